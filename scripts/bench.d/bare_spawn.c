/* bare_spawn CONCURRENCY SECONDS PROGRAM [ARG…]
 *
 * Keeps CONCURRENCY runs of the program active for SECONDS, only with posix_spawn and wait. Prints the number
 * of runs that ended, and the seconds.
 */
#include "bare.h"

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const unsigned long concurrency = strtoul(argv[1], NULL, 10);
  const uint64_t span = (uint64_t)(strtod(argv[2], NULL) * 1e9);
  char **program = argv + 3;

  const uint64_t since = now_ns();
  unsigned long running = 0;
  unsigned long ended = 0;
  while (now_ns() - since < span) {
    for (; running < concurrency; ++running) start(program);
    await_one(program[0]);
    --running;
    ++ended;
  }
  const double took = (double)(now_ns() - since) / 1e9;
  for (; running > 0; --running) await_one(program[0]);
  printf("%lu %.6f\n", ended, took);
  return 0;
}
