/* A run of an executor with three pipes: the item is written to the first, the others are read to their end. */
#ifndef W8Y_BENCH_PIPED_H
#define W8Y_BENCH_PIPED_H

#include "bare.h"

#include <fcntl.h>
#include <sys/epoll.h>

struct run {
  pid_t pid;
  int open; /* number of outputs that have not ended */
  struct output {
    struct run *run;
    int fd;
  } outputs[2];
};

static void pipe_to(int fds[2]) {
  if (pipe2(fds, O_CLOEXEC) != 0) fail("pipe", errno);
}

static void begin_run(struct run *run, const char *program, const char *item, size_t size,
                      int epoll) {
  int in[2], outs[2][2];
  char length[24];
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  pipe_to(in);
  posix_spawn_file_actions_adddup2(&files, in[0], 0);
  for (int i = 0; i < 2; ++i) {
    pipe_to(outs[i]);
    posix_spawn_file_actions_adddup2(&files, outs[i][1], i + 1);
  }
  snprintf(length, sizeof length, "%zu", size);
  char *const argv[] = {(char *)program, (char *)"bench", (char *)"00000000000000000000000001",
                        length, NULL};
  const int error = posix_spawn(&run->pid, program, &files, NULL, argv, environ);
  if (error != 0) fail(program, error);
  posix_spawn_file_actions_destroy(&files);
  close(in[0]);
  if (write(in[1], item, size) < 0) fail("write", errno);
  close(in[1]);
  run->open = 2;
  for (int i = 0; i < 2; ++i) {
    close(outs[i][1]);
    run->outputs[i] = (struct output){run, outs[i][0]};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &run->outputs[i]};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, outs[i][0], &event) != 0) fail("epoll", errno);
  }
}

/* Reads an output. Returns true if it was the last output of its run, which then has ended. */
static int run_ended(struct output *output, int epoll) {
  char buffer[4096];
  if (read(output->fd, buffer, sizeof buffer) > 0) return 0;
  /* A new child may briefly hold a copy of the descriptor, so that close() alone would leave it in epoll. */
  epoll_ctl(epoll, EPOLL_CTL_DEL, output->fd, NULL);
  close(output->fd);
  if (--output->run->open > 0) return 0;
  int status = 0;
  while (waitpid(output->run->pid, &status, 0) < 0)
    if (errno != EINTR) fail("wait", errno);
  if (status != 0) fail("a run failed", ECHILD);
  return 1;
}

#endif
