/* nap MS: a run that sleeps for MS milliseconds. */
#include "bare.h"

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const unsigned long ms = strtoul(argv[1], NULL, 10);
  const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
  return nanosleep(&time, NULL);
}
