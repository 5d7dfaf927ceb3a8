/* bare_single CONCURRENCY SECONDS ITEM PROGRAM
 *
 * Keeps CONCURRENCY runs of an executor active for SECONDS. Each run has three pipes: the item is written to
 * the first, and the others are read to their end. Then it waits for the process. Prints the number of runs
 * that ended, and the seconds.
 */
#include "piped.h"

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const unsigned long concurrency = strtoul(argv[1], NULL, 10);
  const uint64_t span = (uint64_t)(strtod(argv[2], NULL) * 1e9);
  const char *item = argv[3];
  const size_t size = strlen(item);
  struct run *runs = calloc(concurrency, sizeof *runs);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const uint64_t since = now_ns();
  unsigned long running = 0, ended = 0;
  for (; running < concurrency; ++running) begin_run(&runs[running], argv[4], item, size, epoll);
  double took = 0;
  while (running > 0) {
    struct epoll_event events[64];
    const int count = epoll_wait(epoll, events, 64, -1);
    for (int i = 0; i < count; ++i) {
      struct output *output = events[i].data.ptr;
      if (!run_ended(output, epoll)) continue;
      if (now_ns() - since < span) {
        ++ended;
        took = (double)(now_ns() - since) / 1e9;
        begin_run(output->run, argv[4], item, size, epoll);
      } else {
        --running;
      }
    }
  }
  printf("%lu %.6f\n", ended, took);
  return 0;
}
