// What VaultCrypto calls of OpenSSL 3.0's libcrypto. Parameter lists are built in here, since their names are
// macros whose text must outlive the call; nothing else is decided here. All lengths are bytes.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H
// No feature macro: every module of C must see a system header as Swift's own Glibc module does.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <stdint.h>

/// Starts the library without reading a configuration file (it could load code, and OPENSSL_CONF names it)
/// and without a handler at exit. Returns 1 on success.
static inline int copenssl_start(void) {
  return OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL);
}

/// Takes the 16-byte tag of the message that was just encrypted. Returns 1 on success.
static inline int copenssl_get_tag(EVP_CIPHER_CTX *context, void *tag) {
  return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag);
}

/// Says which 16-byte tag the message must have that is being decrypted. Returns 1 on success.
static inline int copenssl_expect_tag(EVP_CIPHER_CTX *context, const void *tag) {
  return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)tag);
}

/// Gives HMAC-SHA256 its key. Returns 1 on success.
static inline int copenssl_hmac_key(EVP_MAC_CTX *context, const unsigned char *key, size_t count) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_init(context, key, count, parameters);
}

/// HKDF-SHA256, extract and expand (RFC 5869). Returns 1 on success.
static inline int copenssl_hkdf(EVP_KDF *hkdf, const void *key, size_t key_count, const void *salt,
                                size_t salt_count, const void *info, size_t info_count,
                                unsigned char *out, size_t out_count) {
  OSSL_PARAM parameters[5];
  int n = 0;
  parameters[n++] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0);
  parameters[n++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_count);
  if (salt_count > 0)
    parameters[n++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count);
  if (info_count > 0)
    parameters[n++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count);
  parameters[n] = OSSL_PARAM_construct_end();
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(hkdf);
  int result = context == NULL ? 0 : EVP_KDF_derive(context, out, out_count, parameters);
  EVP_KDF_CTX_free(context);
  return result;
}

/// scrypt (RFC 7914) that takes at most `most_bytes` of memory. Returns 1 on success.
static inline int copenssl_scrypt(EVP_KDF *scrypt, const void *passphrase, size_t passphrase_count,
                                  const void *salt, size_t salt_count, uint64_t n, uint32_t r, uint32_t p,
                                  uint64_t most_bytes, unsigned char *out, size_t out_count) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PASSWORD, (void *)passphrase, passphrase_count),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_N, &n),
      OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_R, &r),
      OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_P, &p),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_MAXMEM, &most_bytes),
      OSSL_PARAM_construct_end(),
  };
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(scrypt);
  int result = context == NULL ? 0 : EVP_KDF_derive(context, out, out_count, parameters);
  EVP_KDF_CTX_free(context);
  return result;
}

#endif
