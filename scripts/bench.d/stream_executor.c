/* stream_executor CONCURRENCY answer|keep
 *
 * An executor for streams: completes each item at once ("answer"), or never ("keep"). It makes one read and
 * one write for each batch, so that its own cost is minimal.
 */
#include "bare.h"

static char in[1 << 20], out[1 << 20];

static void put(const char *text, size_t size) {
  while (size > 0) {
    const ssize_t done = write(1, text, size);
    if (done < 0) exit(1);
    text += done;
    size -= (size_t)done;
  }
}

/* Writes the reply to a line {"type":"item","id":"…",…}; an ID has no escapes. */
static size_t answer(const char *line, size_t size, char *to) {
  static const char key[] = "\"id\":\"";
  const char *id = memmem(line, size, key, sizeof key - 1);
  if (id == NULL) exit(1);
  id += sizeof key - 1;
  const size_t length = (size_t)((const char *)memchr(id, '"', size) - id);
  return (size_t)sprintf(to, "{\"type\":\"complete\",\"id\":\"%.*s\"}\n", (int)length, id);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  if (strcmp(argv[3], "--caps") == 0) {
    printf("{\"type\":\"caps\",\"caps\":[\"stream\"],\"concurrency\":%s}\n", argv[1]);
    return 0;
  }
  const int keep = strcmp(argv[2], "keep") == 0;
  size_t held = 0;
  ssize_t got;
  while ((got = read(0, in + held, sizeof in - held)) > 0) {
    held += (size_t)got;
    char *line = in, *end;
    size_t said = 0;
    while ((end = memchr(line, '\n', held)) != NULL) {
      if (!keep) said += answer(line, (size_t)(end - line), out + said);
      if (said > sizeof out - 4096) {
        put(out, said);
        said = 0;
      }
      held -= (size_t)(end + 1 - line);
      line = end + 1;
    }
    memmove(in, line, held);
    put(out, said);
  }
  return 0;
}
