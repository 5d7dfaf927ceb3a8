/* bare_scan SOCKET PREFIX TIMES: LRANGE of the whole list, then EXISTS of the lock of each item, in
 * calls of 1,000. Prints the duration of each of TIMES repetitions, in ns. */
#include "resp.h"

enum { asked_at_once = 1000 };

static char *items;
static size_t *ends;

/* The list, copied, because the next reply overwrites the buffer. */
static size_t range(const char *list, struct text *found, size_t room) {
  begin(4);
  words(4, "LRANGE", list, "0", "-1");
  flush();
  const size_t count = (size_t)reply(found, room);
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    memcpy(items + size, found[i].at, found[i].size);
    ends[i] = size += found[i].size;
  }
  return count;
}

static long ask(const char *prefix, size_t from, size_t to) {
  begin((int)(to - from) + 1);
  words(1, "EXISTS");
  for (size_t i = from; i < to; ++i) {
    char lock[256];
    const size_t start = i > 0 ? ends[i - 1] : 0;
    const int size = snprintf(lock, sizeof lock, "%s:lock:%.*s", prefix, (int)(ends[i] - start),
                              items + start);
    word(lock, (size_t)size);
  }
  flush();
  struct text number;
  reply(&number, 1);
  return strtol(number.at, NULL, 10);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const size_t room = 1100000;
  struct text *found = calloc(room, sizeof *found);
  items = malloc(32 * room);
  ends = calloc(room, sizeof *ends);
  if (found == NULL || items == NULL || ends == NULL) fail("memory", ENOMEM);
  resp_connect(argv[1]);
  char list[256];
  snprintf(list, sizeof list, "%s:list", argv[2]);
  for (long times = strtol(argv[3], NULL, 10); times > 0; --times) {
    const uint64_t since = now_ns();
    const size_t count = range(list, found, room);
    long locked = 0;
    for (size_t from = 0; from < count; from += asked_at_once)
      locked += ask(argv[2], from, from + asked_at_once < count ? from + asked_at_once : count);
    const uint64_t took = now_ns() - since;
    if ((size_t)locked + 1 != count) fail("not all but one are locked", EINVAL);
    printf("%llu\n", (unsigned long long)took);
  }
  return 0;
}
