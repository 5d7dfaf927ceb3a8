/* Common code of the bare loops: a plain start of a program, and a clock. */
#ifndef W8Y_BENCH_BARE_H
#define W8Y_BENCH_BARE_H

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static inline uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static inline void fail(const char *what, int error) {
  fprintf(stderr, "%s: %s\n", what, strerror(error));
  exit(2);
}

static inline pid_t start(char **argv) {
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
  if (error != 0) fail(argv[0], error);
  return pid;
}

/* Waits for any child. Exits if the child has failed, because that would falsify the results. */
static inline void await_one(const char *name) {
  int status = 0;
  while (wait(&status) < 0)
    if (errno != EINTR) fail("wait", errno);
  if (status == 0) return;
  fprintf(stderr, "%s: ended with status 0x%x\n", name, (unsigned)status);
  exit(2);
}

#endif
