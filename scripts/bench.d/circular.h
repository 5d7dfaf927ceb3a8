/* A circular list in Redis, with claims and settlements by the scripts of w8yd. */
#ifndef W8Y_BENCH_CIRCULAR_H
#define W8Y_BENCH_CIRCULAR_H

#include "records.h"

enum { settled_at_once = 32, claim_header = 7 };

/* A claimed item: three elements of a claim's reply, after its first claim_header elements. */
static const char *prefix, *settle_sha, *claim_sha, *history;
static char keys[11][256];
static unsigned long next_run;
static unsigned long settled_locks, freed_locks;

static void circular_open(const char *claim_lua, const char *settle_lua, const char *of,
                          const char *kept) {
  static const char *const names[] = {"list", "fence",  "failures", "slots",       "paused",
                                      "runs", "events", "lock:",    "quarantined", "waiting",
                                      "samples"};
  claim_sha = load_script(claim_lua);
  settle_sha = load_script(settle_lua);
  prefix = of;
  history = history_limits(kept);
  for (int i = 0; i < 11; ++i) snprintf(keys[i], sizeof keys[i], "%s:%s", prefix, names[i]);
}

/* The runs get the IDs from next_run on. */
static void claim(unsigned long items) {
  char wake[256], other_locks[256];
  snprintf(wake, sizeof wake, "%s:wake", prefix);
  snprintf(other_locks, sizeof other_locks, "%s:proc:", prefix);
  begin(3 + 8 + 17 + (int)items);
  words(3, "EVALSHA", claim_sha, "8");
  words(8, keys[0], keys[1], keys[2], keys[3], keys[4], keys[8], keys[9], keys[10]);
  words(17, keys[7], "run:bench:1:", "5000", "0", "-1", "256", "0", "0", wake, "0", "1048576", "64",
        "16777216", "4097", "", "0", other_locks);
  for (unsigned long i = 0; i < items; ++i) {
    char run[run_size + 1];
    snprintf(run, sizeof run, "%026lu", next_run++);
    word(run, run_size);
  }
}

static inline int noted(void) { return strcmp(history, "0") != 0; }

struct claimed {
  unsigned long run;
  struct text item, fence;
};

static inline void tell_start(const struct claimed *one) {
  if (noted()) publish_start(keys[6], prefix, one->run, one->item);
}

/* The reply to a settlement: how many of the locks this client held, and what Redis refused. */
static inline void note_settled(const struct text *found) {
  freed_locks += strtoul(found[0].at, NULL, 10);
}

/* Called at the end. A client that misreads claims settles items that it never held, and is too fast. */
static inline void check_settled(void) {
  if (freed_locks != settled_locks) fail("settled what it did not hold", EPROTO);
}

/* Settles at most settled_at_once items. */
static void settle(const struct claimed *ends, int count) {
  settled_locks += (unsigned long)count;
  char number[32], wake[256];
  begin(3 + 5 + count + 5 + 11 + count * 4);
  snprintf(number, sizeof number, "%d", 5 + count);
  words(3, "EVALSHA", settle_sha, number);
  words(4, keys[2], keys[3], keys[5], keys[8]);
  for (int i = 0; i < count; ++i) {
    char lock[256];
    const int size =
        snprintf(lock, sizeof lock, "%s%.*s", keys[7], (int)ends[i].item.size, ends[i].item.at);
    word(lock, (size_t)size);
  }
  words(1, keys[9]);
  snprintf(wake, sizeof wake, "%s:wake", prefix);
  words(5, keys[6], wake, keys[7], "1", "");
  words(11, "run:bench:1:", "", "0", "", "reset", "0", "0", history, "", "0", "");
  for (int i = 0; i < count; ++i) {
    char run[run_size + 1];
    snprintf(run, sizeof run, "%026lu", ends[i].run);
    words(2, "1", run);
    if (noted()) {
      note_end(prefix, run, ends[i].item, ends[i].fence);
    } else {
      words(2, "", "");
    }
  }
}

#endif
