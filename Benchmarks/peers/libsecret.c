// What a program does that uses libsecret itself: look-ups and stores over one connection and one session that
// are kept. The items are those of the benchmark: the namespace Bench, and the names k000000, k000001 and so on.
//
//   libsecret get CPU TIMES ITEMS     looks up ITEMS items in turn, TIMES in all; prints the median in nanoseconds
//   libsecret set CPU TIMES ITEMS     stores them anew, likewise
//   libsecret count                   prints how many of them there are, and how many can be read now
//   libsecret seal PASSWORD           opens a default collection that has the empty password, and gives it this one
#define _GNU_SOURCE
#define SECRET_API_SUBJECT_TO_CHANGE 1
#define SECRET_WITH_UNSTABLE 1
#include <libsecret/secret.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const SecretSchema schema = {
    "org.vaultd.Token",
    SECRET_SCHEMA_DONT_MATCH_NAME,
    {{"namespace", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"name", SECRET_SCHEMA_ATTRIBUTE_STRING}},
};

static int fail(const char *what, GError *error) {
  fprintf(stderr, "libsecret: %s: %s\n", what, error ? error->message : "nothing is there");
  return 1;
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static int measure(gboolean setting, int cpu, size_t times, size_t items) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
  GError *error = NULL;
  // What is kept for the life of the program; the calls below use it.
  SecretService *service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, NULL, &error);
  if (service == NULL) return fail("no Secret Service", error);
  uint64_t *took = calloc(times, sizeof *took);
  if (took == NULL || times == 0 || items == 0) return 1;
  for (size_t i = 0; i < times; i++) {
    char name[32], token[64];
    snprintf(name, sizeof name, "k%06zu", i % items);
    snprintf(token, sizeof token, "r:%032zx", i + 1);
    uint64_t start = now();
    if (setting) {
      if (!secret_password_store_sync(&schema, SECRET_COLLECTION_DEFAULT, "Bench", token, NULL, &error, "namespace",
                                      "Bench", "name", name, NULL))
        return fail("store", error);
      took[i] = now() - start;
    } else {
      char *found = secret_password_lookup_sync(&schema, NULL, &error, "namespace", "Bench", "name", name, NULL);
      took[i] = now() - start;
      if (found == NULL || strncmp(found, "r:", 2) != 0) return fail(name, error);
      secret_password_free(found);
    }
  }
  qsort(took, times, sizeof *took, compare);
  printf("%llu\n", (unsigned long long)took[times / 2]);
  g_object_unref(service);
  return 0;
}

/// Asks for paths only: libsecret's own search loads every item.
static int count_items(void) {
  GError *error = NULL;
  SecretService *service = secret_service_get_sync(SECRET_SERVICE_NONE, NULL, &error);
  if (service == NULL) return fail("no Secret Service", error);
  GVariant *found = g_dbus_proxy_call_sync(G_DBUS_PROXY(service), "SearchItems",
                                           g_variant_new_parsed("({'namespace': 'Bench'},)"), G_DBUS_CALL_FLAGS_NONE,
                                           120000, NULL, &error);
  if (found == NULL) return fail("search", error);
  GVariant *unlocked = g_variant_get_child_value(found, 0), *locked = g_variant_get_child_value(found, 1);
  size_t open = g_variant_n_children(unlocked);
  printf("%zu %zu\n", open + g_variant_n_children(locked), open);
  g_variant_unref(unlocked);
  g_variant_unref(locked);
  g_variant_unref(found);
  g_object_unref(service);
  return 0;
}

/// A call that gnome-keyring has for its own tools.
static gboolean call_keyring(SecretService *service, const char *method, GVariant *parameters, GError **error) {
  GVariant *done = g_dbus_connection_call_sync(
      g_dbus_proxy_get_connection(G_DBUS_PROXY(service)), "org.freedesktop.secrets", "/org/freedesktop/secrets",
      "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", method, parameters, NULL, G_DBUS_CALL_FLAGS_NONE,
      120000, NULL, error);
  if (done == NULL) return FALSE;
  g_variant_unref(done);
  return TRUE;
}

static int seal(const char *password) {
  GError *error = NULL;
  SecretService *service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, NULL, &error);
  if (service == NULL) return fail("no Secret Service", error);
  char *path = secret_service_read_alias_dbus_path_sync(service, "default", NULL, &error);
  if (path == NULL) return fail("no default collection", error);
  SecretValue *before = secret_value_new("", 0, "text/plain"), *after = secret_value_new(password, -1, "text/plain");
  GVariant *one = g_variant_new("(o@(oayays))", path, secret_service_encode_dbus_secret(service, before));
  if (!call_keyring(service, "UnlockWithMasterPassword", one, &error)) return fail("unlock", error);
  GVariant *two = g_variant_new("(o@(oayays)@(oayays))", path, secret_service_encode_dbus_secret(service, before),
                                secret_service_encode_dbus_secret(service, after));
  if (!call_keyring(service, "ChangeWithMasterPassword", two, &error)) return fail("another password", error);
  secret_value_unref(before);
  secret_value_unref(after);
  g_free(path);
  g_object_unref(service);
  return 0;
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "count") == 0) return count_items();
  if (count == 3 && strcmp(arguments[1], "seal") == 0) return seal(arguments[2]);
  if (count != 5) return 2;
  gboolean setting = strcmp(arguments[1], "set") == 0;
  if (!setting && strcmp(arguments[1], "get") != 0) return 2;
  return measure(setting, atoi(arguments[2]), (size_t)atol(arguments[3]), (size_t)atol(arguments[4]));
}
