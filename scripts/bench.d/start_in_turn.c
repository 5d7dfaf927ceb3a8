/* start_in_turn COUNT PROGRAM [ARG…] [--next PROGRAM [ARG…]]…
 *
 * Runs the programs in turn, COUNT times each, and prints a line per program: the duration of each of its
 * runs, from before the start to after the end, in ns. It prints to standard error, because standard output
 * belongs to the programs.
 */
#include "bare.h"

enum { most_programs = 16 };

static int split(char **words, char ***programs) {
  int count = 1;
  programs[0] = words;
  for (; *words != NULL; ++words) {
    if (strcmp(*words, "--next") != 0) continue;
    if (count == most_programs) fail("too many programs", E2BIG);
    *words = NULL;
    programs[count++] = words + 1;
  }
  return count;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const size_t runs = strtoul(argv[1], NULL, 10);
  char **programs[most_programs];
  const int count = split(argv + 2, programs);
  uint64_t *took = calloc(runs * (size_t)count, sizeof *took);
  if (took == NULL) fail("calloc", ENOMEM);

  for (size_t run = 0; run < runs; ++run) {
    for (int i = 0; i < count; ++i) {
      const uint64_t since = now_ns();
      start(programs[i]);
      await_one(programs[i][0]);
      took[(size_t)i * runs + run] = now_ns() - since;
    }
  }
  for (int i = 0; i < count; ++i) {
    for (size_t run = 0; run < runs; ++run)
      fprintf(stderr, "%llu ", (unsigned long long)took[(size_t)i * runs + run]);
    fputc('\n', stderr);
  }
  return 0;
}
