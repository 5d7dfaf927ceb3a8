/* flood_child garbage|stderr|progress|compute: an executor that lives until it is killed. It writes lines as
 * fast as they are read, or ("compute") keeps a processor busy and writes nothing. */
#include "bare.h"

static char lines[1 << 16];

static size_t fill(const char *line) {
  size_t size = 0;
  const size_t length = strlen(line);
  for (; size + length <= sizeof lines; size += length) memcpy(lines + size, line, length);
  return size;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  if (strcmp(argv[2], "--caps") == 0)
    return puts("{\"type\":\"caps\",\"caps\":[\"single\"]}") < 0;
  const char *kind = argv[1];
  volatile unsigned long counted = 0;
  while (strcmp(kind, "compute") == 0) ++counted;
  const int progress = strcmp(kind, "progress") == 0;
  const size_t size = fill(
      progress ? "{\"type\":\"progress\",\"numerator\":3,\"denominator\":10}\n"
               : "a line of text that is no message to anybody, and is written again and again\n");
  const int to = strcmp(kind, "stderr") == 0 ? 2 : 1;
  for (size_t done = 0;;) {
    const ssize_t wrote = write(to, lines + done, size - done);
    if (wrote < 0) return 1;
    done = (done + (size_t)wrote) % size;
  }
}
