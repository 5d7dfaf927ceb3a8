/* bare_worker SOCKET CLAIM.lua SETTLE.lua PREFIX HISTORY CONCURRENCY SECONDS KIND PROGRAM
 *
 * Keeps CONCURRENCY runs active for SECONDS. It claims the item of each run before it and settles it after
 * it, by the scripts of w8yd. This is the necessary work of any supervisor. KIND: "spawn", children without
 * pipes; or "single", an executor with three pipes, which are read to their end. It prefetches as many items
 * as there are slots, so that no run waits for Redis. Prints the number of runs that ended, and the seconds.
 */
#include "circular.h"
#include "piped.h"

#include <signal.h>
#include <sys/signalfd.h>

struct work {
  struct run run; /* first member: a pointer to the run is also a pointer to its work */
  struct claimed what;
  char item[256], fence[32];
};

static struct work *all, **idle, **stock, **running;
static unsigned long places, idle_count, stock_count, running_count, asked, asked_from;
static struct claimed ends[settled_at_once];
static struct work *end_of[settled_at_once];
static int end_count, going = 1, single, epoll;
static char **program;

static struct text copy(char *room, size_t size, struct text from) {
  if (from.size > size) fail("an item is too long", ENOBUFS);
  memcpy(room, from.at, from.size);
  return (struct text){room, from.size};
}

static void send_ends(void) {
  if (end_count > 0) settle(ends, end_count);
  for (int i = 0; i < end_count; ++i) idle[idle_count++] = end_of[i];
  end_count = 0;
}

static void end(struct work *work) {
  end_of[end_count] = work;
  ends[end_count++] = work->what;
  if (end_count == settled_at_once) send_ends();
}

/* Claims the next items when at least half of the stock is used. */
static void ask(void) {
  if (!going || asked > 0 || stock_count * 2 > places) return;
  asked = places - stock_count;
  if (asked > idle_count) asked = idle_count;
  asked_from = next_run;
  if (asked > 0) claim(asked);
}

static void begin_some(void) {
  while (going && stock_count > 0 && running_count < places) {
    struct work *work = stock[--stock_count];
    tell_start(&work->what);
    if (single) {
      begin_run(&work->run, program[0], work->item, work->what.item.size, epoll);
    } else {
      work->run.pid = start(program);
    }
    running[running_count++] = work;
  }
}

static void ended(struct work *work) {
  for (unsigned long i = 0; i < running_count; ++i)
    if (running[i] == work) running[i] = running[--running_count];
  end(work);
}

/* The reply to a claim has five elements, or eight and more; the reply to a settlement has three. */
static void take_replies(void) {
  static struct text found[claim_header + 3 * 4096];
  do {
    const int count = reply(found, sizeof found / sizeof *found);
    if (count < 5) {
      if (count == 3) note_settled(found);
      continue;
    }
    for (int i = claim_header; i + 2 < count; i += 3) {
      struct work *work = idle[--idle_count];
      work->what.run = asked_from++;
      work->what.item = copy(work->item, sizeof work->item, found[i]);
      work->what.fence = copy(work->fence, sizeof work->fence, found[i + 1]);
      stock[stock_count++] = work;
    }
    asked = 0;
  } while (reply_at_hand());
}

static unsigned long reap(void) {
  unsigned long count = 0;
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0; ++count) {
    if (status != 0) fail("a run failed", ECHILD);
    for (unsigned long i = 0; i < running_count; ++i) {
      if (running[i]->run.pid != pid) continue;
      ended(running[i]);
      break;
    }
  }
  return count;
}

static void watch(int fd, void *what) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll", errno);
}

static void prepare(int argc, char **argv) {
  if (argc < 10) exit(2);
  resp_connect(argv[1]);
  circular_open(argv[2], argv[3], argv[4], argv[5]);
  places = strtoul(argv[6], NULL, 10);
  single = strcmp(argv[8], "single") == 0;
  program = argv + 9;
  all = calloc(3 * places, sizeof *all);
  idle = calloc(3 * places, sizeof *idle);
  stock = calloc(3 * places, sizeof *stock);
  running = calloc(places, sizeof *running);
  for (; idle_count < 3 * places; ++idle_count) idle[idle_count] = &all[idle_count];
  epoll = epoll_create1(EPOLL_CLOEXEC);
  watch(resp_socket, NULL);
}

int main(int argc, char **argv) {
  prepare(argc, argv);
  const uint64_t span = (uint64_t)(strtod(argv[7], NULL) * 1e9);
  sigset_t children, none;
  sigemptyset(&none);
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  if (!single) sigprocmask(SIG_BLOCK, &children, NULL);
  const int signals = signalfd(-1, single ? &none : &children, SFD_CLOEXEC | SFD_NONBLOCK);
  watch(signals, &children);

  const uint64_t since = now_ns();
  unsigned long count = 0;
  double took = 0;
  while (going || running_count > 0) {
    begin_some();
    send_ends();
    ask();
    flush();
    struct epoll_event events[64];
    const int found = epoll_wait(epoll, events, 64, -1);
    const unsigned long before = count;
    for (int i = 0; i < found; ++i) {
      void *what = events[i].data.ptr;
      struct signalfd_siginfo told;
      if (what == NULL) {
        take_replies();
      } else if (what == &children) {
        if (read(signals, &told, sizeof told) > 0) count += reap();
      } else if (run_ended(what, epoll)) {
        ended((struct work *)((struct output *)what)->run);
        ++count;
      }
    }
    if (!going) continue;
    if (count > before) took = (double)(now_ns() - since) / 1e9;
    going = now_ns() - since < span;
    if (!going) printf("%lu %.6f\n", count, took);
  }
  /* Prefetched items become free again. */
  while (stock_count > 0) end(stock[--stock_count]);
  send_ends();
  flush();
  while (unanswered() > 0) take_replies();
  while (stock_count > 0) end(stock[--stock_count]);
  send_ends();
  flush();
  while (unanswered() > 0) take_replies();
  check_settled();
  return 0;
}
