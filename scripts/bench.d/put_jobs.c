/* put_jobs SOCKET PUT.lua FEED WAITING SETTLE SECONDS
 *
 * Puts WAITING jobs in a feed and keeps this number while others run them: it puts a new job for each
 * finished job. For SECONDS, it counts finished jobs. This starts SETTLE seconds after all are put and the
 * first is finished. Then it puts no more, and waits until all are finished. Prints the number of finished
 * jobs in that time, the seconds, the number of jobs put, and the smallest number of unfinished jobs.
 */
#include "resp.h"

enum { put_at_once = 1000, least_put = 100, ms = 1000000, patience_s = 30 };

static const char *put_sha, *feed;
static unsigned long next_job, finished_before;

static void key(const char *name) {
  char text[256];
  snprintf(text, sizeof text, "%s:%s", name, feed);
  words(1, text);
}

static void put(unsigned long count) {
  while (count > 0) {
    const unsigned long some = count < put_at_once ? count : put_at_once;
    begin(3 + 9 + 7 + 4 * (int)some);
    words(3, "EVALSHA", put_sha, "9");
    key("feed.config");
    key("feed.ids");
    key("feed.items");
    key("feed.publishes");
    key("feed.published");
    key("feed.claimed");
    key("feed.cancelled");
    key("feed.stalled");
    words(1, "feeds");
    words(7, feed, "", "keep", "feed.result:", "", "", "");
    for (unsigned long i = 0; i < some; ++i) {
      char id[64], item[64];
      snprintf(id, sizeof id, "%032lx", ++next_job);
      snprintf(item, sizeof item, "{\"number\":%lu}", next_job);
      words(4, id, item, "n", "");
    }
    flush();
    struct text parts[3]; /* status, a digit for each job, text of the request */
    reply(parts, 3);
    count -= some;
  }
}

static unsigned long finished(void) {
  begin(2);
  words(1, "GET");
  key("feed.finishes");
  flush();
  struct text number;
  reply(&number, 1);
  return (number.at == NULL ? 0 : strtoul(number.at, NULL, 10)) - finished_before;
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = ms}, NULL); }

static uint64_t span(const char *seconds) { return (uint64_t)(strtod(seconds, NULL) * 1e9); }

/* Returns the number of finished jobs. Fails if it has not changed for patience_s. */
static unsigned long look(uint64_t now) {
  static unsigned long last;
  static uint64_t moved;
  const unsigned long done = finished();
  if (done != last || moved == 0) moved = now;
  last = done;
  if (now - moved > patience_s * UINT64_C(1000000000)) fail("no job is finished", ETIMEDOUT);
  return done;
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  resp_connect(argv[1]);
  put_sha = load_script(argv[2]);
  feed = argv[3];
  const unsigned long waiting = strtoul(argv[4], NULL, 10);
  const uint64_t settle = span(argv[5]), seconds = span(argv[6]);
  finished_before = finished();
  next_job = finished_before;
  put(waiting);
  unsigned long all = waiting, done = 0, first = 0, least = waiting;
  uint64_t since = 0, from = 0, now;
  for (;; nap()) {
    now = now_ns();
    done = look(now);
    if (since == 0 && done > 0) since = now;
    if (from == 0 && since > 0 && now - since >= settle) {
      from = now;
      first = done;
    }
    if (from > 0 && now - from >= seconds) break;
    const unsigned long left = all - done;
    if (from > 0 && left < least) least = left;
    if (waiting - left >= least_put) {
      put(waiting - left);
      all += waiting - left;
    }
  }
  printf("%lu %.6f %lu %lu\n", done - first, (double)(now - from) / 1e9, all, least);
  while (done < all) {
    nap();
    done = look(now_ns());
  }
  return 0;
}
