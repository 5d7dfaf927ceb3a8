/* started_at FIFO ITEM: writes the time of its start, in ns of the monotonic clock. */
#include "bare.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  const uint64_t now = now_ns();
  if (argc != 3) return 2;
  char line[256];
  const int size = snprintf(line, sizeof line, "%llu %s\n", (unsigned long long)now, argv[2]);
  const int fifo = open(argv[1], O_WRONLY | O_CLOEXEC);
  return fifo < 0 || write(fifo, line, (size_t)size) != size;
}
