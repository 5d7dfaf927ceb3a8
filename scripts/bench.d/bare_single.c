/* bare_single CONCURRENCY SECONDS ITEM PROGRAM
 *
 * Keeps CONCURRENCY runs of an executor going for so long: three pipes each, the item written to
 * the first, the others read to their end, then waited for; nothing else. Prints how many ended, and
 * in how many seconds.
 */
#include "bare.h"

#include <fcntl.h>
#include <sys/epoll.h>

struct run {
  pid_t pid;
  int open; /* outputs not at their end */
  struct output {
    struct run *run;
    int fd;
  } outputs[2];
};

static const char *item;

static void pipe_to(int fds[2]) {
  if (pipe2(fds, O_CLOEXEC) != 0) fail("pipe", errno);
}

static void begin(struct run *run, const char *program, int epoll) {
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
  snprintf(length, sizeof length, "%zu", strlen(item));
  char *const argv[] = {(char *)program, (char *)"bench", (char *)"00000000000000000000000001",
                        length, NULL};
  const int error = posix_spawn(&run->pid, program, &files, NULL, argv, environ);
  if (error != 0) fail(program, error);
  posix_spawn_file_actions_destroy(&files);
  close(in[0]);
  if (write(in[1], item, strlen(item)) < 0) fail("write", errno);
  close(in[1]);
  run->open = 2;
  for (int i = 0; i < 2; ++i) {
    close(outs[i][1]);
    run->outputs[i] = (struct output){run, outs[i][0]};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &run->outputs[i]};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, outs[i][0], &event) != 0) fail("epoll", errno);
  }
}

/* True if it was the last output of its run, which has ended then. */
static int look(struct output *output, int epoll) {
  char buffer[4096];
  if (read(output->fd, buffer, sizeof buffer) > 0) return 0;
  /* A child that is just being started may hold a copy: closing alone would leave it watched. */
  epoll_ctl(epoll, EPOLL_CTL_DEL, output->fd, NULL);
  close(output->fd);
  if (--output->run->open > 0) return 0;
  int status = 0;
  while (waitpid(output->run->pid, &status, 0) < 0)
    if (errno != EINTR) fail("wait", errno);
  if (status != 0) fail("a run failed", ECHILD);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const unsigned long concurrency = strtoul(argv[1], NULL, 10);
  const uint64_t span = (uint64_t)(strtod(argv[2], NULL) * 1e9);
  item = argv[3];
  struct run *runs = calloc(concurrency, sizeof *runs);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const uint64_t since = now_ns();
  unsigned long running = 0, ended = 0;
  for (; running < concurrency; ++running) begin(&runs[running], argv[4], epoll);
  double took = 0;
  while (running > 0) {
    struct epoll_event events[64];
    const int count = epoll_wait(epoll, events, 64, -1);
    for (int i = 0; i < count; ++i) {
      struct output *output = events[i].data.ptr;
      if (!look(output, epoll)) continue;
      if (now_ns() - since < span) {
        ++ended;
        took = (double)(now_ns() - since) / 1e9;
        begin(output->run, argv[4], epoll);
      } else {
        --running;
      }
    }
  }
  printf("%lu %.6f\n", ended, took);
  return 0;
}
