/* The part of the protocol of Redis that the bare clients need. Calls are sent in one write, and replies are
 * read as they arrive. */
#ifndef W8Y_BENCH_RESP_H
#define W8Y_BENCH_RESP_H

#include "bare.h"

#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>

struct text {
  const char *at;
  size_t size;
};

static int resp_socket;
static char resp_out[1 << 22], resp_in[1 << 25];
static size_t resp_unsent, resp_from, resp_to;
static unsigned long resp_asked;

static void resp_connect(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  resp_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (resp_socket < 0 || connect(resp_socket, (struct sockaddr *)&address, sizeof address) != 0)
    fail(path, errno);
}

static void flush(void) {
  for (size_t done = 0; done < resp_unsent;) {
    const ssize_t wrote = write(resp_socket, resp_out + done, resp_unsent - done);
    if (wrote < 0) fail("write", errno);
    done += (size_t)wrote;
  }
  resp_unsent = 0;
}

static void begin(int count) {
  if (resp_unsent > sizeof resp_out - (1 << 20)) flush();
  resp_unsent += (size_t)sprintf(resp_out + resp_unsent, "*%d\r\n", count);
  ++resp_asked;
}

static void word(const char *at, size_t size) {
  resp_unsent += (size_t)sprintf(resp_out + resp_unsent, "$%zu\r\n", size);
  memcpy(resp_out + resp_unsent, at, size);
  memcpy(resp_out + resp_unsent + size, "\r\n", 2);
  resp_unsent += size + 2;
}

static inline void words(int count, ...) {
  va_list list;
  va_start(list, count);
  while (count-- > 0) {
    const char *text = va_arg(list, const char *);
    word(text, strlen(text));
  }
  va_end(list);
}

static inline unsigned long unanswered(void) { return resp_asked; }
static inline int reply_at_hand(void) { return resp_from < resp_to; }

static void more(void) {
  if (resp_to == sizeof resp_in) fail("reply", ENOBUFS);
  const ssize_t got = read(resp_socket, resp_in + resp_to, sizeof resp_in - resp_to);
  if (got <= 0) fail("Redis is gone", got < 0 ? errno : EPIPE);
  resp_to += (size_t)got;
}

/* Returns the number after the first letter of a reply. Uses offsets, because more() may move the buffer. */
static long line(char *kind) {
  char *end;
  while ((end = memchr(resp_in + resp_from, '\n', resp_to - resp_from)) == NULL) more();
  *kind = resp_in[resp_from];
  if (*kind == '-') {
    fprintf(stderr, "Redis: %.*s\n", (int)(end - resp_in - (long)resp_from), resp_in + resp_from);
    exit(2);
  }
  const long value = strtol(resp_in + resp_from + 1, NULL, 10);
  resp_from = (size_t)(end + 1 - resp_in);
  return value;
}

static struct text one(void) {
  char kind;
  const size_t start = resp_from;
  const long size = line(&kind);
  if (kind != '$') return (struct text){resp_in + start + 1, resp_from - start - 3};
  if (size < 0) return (struct text){NULL, 0};
  while (resp_to - resp_from < (size_t)size + 2) more();
  const struct text found = {resp_in + resp_from, (size_t)size};
  resp_from += (size_t)size + 2;
  return found;
}

/* Reads the next reply. An array is flat in `found`, which is valid until the next call. */
static int reply(struct text *found, size_t room) {
  memmove(resp_in, resp_in + resp_from, resp_to - resp_from);
  resp_to -= resp_from;
  resp_from = 0;
  --resp_asked;
  while (resp_to == 0) more();
  long count = 1;
  if (resp_in[0] == '*') {
    char kind;
    count = line(&kind);
  }
  if ((size_t)count > room) fail("reply", ENOBUFS);
  for (long i = 0; i < count; ++i) found[i] = one();
  return (int)count;
}

static inline const char *load_script(const char *path) {
  static char text[1 << 16];
  FILE *file = fopen(path, "r");
  if (file == NULL) fail(path, errno);
  const size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  begin(3);
  words(2, "SCRIPT", "LOAD");
  word(text, size);
  flush();
  struct text sha;
  reply(&sha, 1);
  return strndup(sha.at, sha.size);
}

#endif
