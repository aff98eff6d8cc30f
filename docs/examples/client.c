// A whole client of the vault, with nothing but the C library: client get KEY | set KEY <SECRET | clear KEY
#define _GNU_SOURCE
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static char frame[7 << 20];  // a call, then its reply; the largest has 6.5 MiB

static void need(int holds, const char *what) {
  if (!holds) fprintf(stderr, "client: %s\n", what), exit(1);
}

// Connects, and makes sure by the kernel that what listens is this user's own, before anything is sent to it.
static int vault_connect(void) {
  const char *path = getenv("VAULTD_SOCKET"), *folder = getenv("XDG_RUNTIME_DIR");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int length = snprintf(address.sun_path, sizeof address.sun_path, "%s%s", path ? path : folder ? folder : "",
                        path ? "" : "/vault/vault.sock");
  int vault = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  need(length < (int)sizeof address.sun_path && connect(vault, (void *)&address, sizeof address) == 0,
       "vaultd cannot be reached");
  struct ucred peer = {.uid = -1};
  getsockopt(vault, SOL_SOCKET, SO_PEERCRED, &peer, &(socklen_t){sizeof peer});
  need(peer.uid == getuid(), "what listens on the vault's socket is another user's");
  return vault;
}

// Sends the call in `frame` with the NUL behind it, and reads the reply into `frame`.
static void vault_call(int vault, size_t size) {
  for (ssize_t sent = 0; size > 0; size -= sent, memmove(frame, frame + sent, size))
    need((sent = send(vault, frame, size, MSG_NOSIGNAL)) > 0, "vaultd does not take the call");
  for (ssize_t count; size == 0 || frame[size - 1] != 0; size += count)
    need((count = recv(vault, frame + size, sizeof frame - size, 0)) > 0, "vaultd hung up");
  // Inside of a string a quote has a backslash in front of it, so that this can be nothing but the member.
  need(!strstr(frame, "\"error\":\""), frame);
}

// Prints what a string of JSON says, or what it says in Base64.
static void print(const char *in, int base64) {
  for (unsigned bits = 0, value = 0, low; *in && *in != '"' && !(base64 && *in == '='); in++) {
    if (base64) {
      value = value << 6 | (strchr(digits, *in) - digits);
      if ((bits += 6) >= 8) putchar(value >> (bits -= 8));
    } else if (*in != '\\') {
      putchar(*in);
    } else if (*++in != 'u') {
      const char *letter = strchr("b\bf\fn\nr\rt\t", *in);
      putchar(letter ? letter[1] : *in);
    } else {
      sscanf(in + 1, "%4x", &value), in += 4;
      if (value >> 10 == 0x36 && sscanf(in + 1, "\\u%4x", &low) == 1)
        value = 0x10000 + (value << 10 & 0xFFC00) + (low & 0x3FF), in += 6;
      printf("%lc", value);
    }
  }
}

int main(int count, char **words) {
  int get = count == 3 && !strcmp(words[1], "get"), set = count == 3 && !strcmp(words[1], "set");
  need(get || set || (count == 3 && !strcmp(words[1], "clear")), "get KEY | set KEY <SECRET | clear KEY");
  const char *method = get ? "Get" : set ? "Set" : "Clear";
  char *out = frame + sprintf(frame, "{\"method\":\"org.vaultd.Vault.%s\",\"parameters\":{\"key\":\"", method);
  for (const char *in = words[2]; *in; *out++ = *in++)
    if (*in == '"' || *in == '\\') *out++ = '\\';
  if (set) out += sprintf(out, "\",\"secretBase64\":\"");
  for (unsigned char s[3] = {0}; set && (count = fread(s, 1, 3, stdin)) > 0 && out < frame + (2 << 20); memset(s, 0, 3))
    for (int n = 0; n < 4; n++)
      *out++ = n <= count ? digits[(s[0] << 16 | s[1] << 8 | s[2]) >> (18 - 6 * n) & 63] : '=';
  vault_call(vault_connect(), sprintf(out, "\"}}") + 1 + out - frame);
  setlocale(LC_CTYPE, "C.UTF-8");
  if (get && strstr(frame, "\"secret\":\"")) print(strstr(frame, "\"secret\":\"") + 10, 0);
  else if (get) print(strstr(frame, "\"secretBase64\":\"") + 16, 1);
}
