/* bare_jobs SOCKET TAKE.lua END.lua FEED BATCH HISTORY
 *
 * Claims BATCH jobs and finishes them at once, until it is killed. It uses the scripts of w8yd, with at most
 * as many jobs per call. The ends and the next claim are in one batch. HISTORY above 0: writes history and
 * events as w8yd does.
 */
#include "records.h"

enum { ended_at_once = 32, head = 6, per_job = 4, ms = 1000000 };

static const char *feed, *take_sha, *end_sha, *history;
static unsigned long batch, next_run;

/* A key of Thoonk's contract ("feed.ids:F"), a channel, or the start of the keys of leases. */
static void theirs(const char *name, const char *more) {
  char key[256];
  snprintf(key, sizeof key, "%s:%s%s", name, feed, more);
  words(1, key);
}

static const char *ours(const char *name) {
  static char key[256];
  snprintf(key, sizeof key, "%s:%s", feed, name);
  return key;
}

static void take(void) {
  begin(3 + 11 + 9 + (int)batch);
  words(3, "EVALSHA", take_sha, "11");
  theirs("feed.config", "");
  words(1, ours("paused"));
  words(1, ours("fence"));
  words(1, ours("slots"));
  static const char *const keys[] = {"feed.ids",       "feed.items",   "feed.claimed",
                                     "feed.cancelled", "feed.stalled", "feed.published"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) theirs(keys[i], "");
  words(1, ours("claims"));
  theirs("feed.lease", ":");
  words(8, "run:bench:1:", "5000", "0", "256", "16777216", "1048576", "4097", "0");
  for (unsigned long i = 0; i < batch; ++i) {
    char run[run_size + 1];
    snprintf(run, sizeof run, "%026lu", next_run++);
    word(run, run_size);
  }
}

/* `jobs`: part of the reply to a claim. */
static void finish(const struct text *jobs, int count, unsigned long first_run) {
  const int noted = strcmp(history, "0") != 0;
  for (int i = 0; noted && i < count; ++i)
    publish_start(ours("events"), feed, first_run + (unsigned long)i, jobs[per_job * i]);
  begin(3 + 10 + 6 + 8 + count * 6);
  words(3, "EVALSHA", end_sha, "10");
  static const char *const keys[] = {"feed.ids",       "feed.items",   "feed.claimed",
                                     "feed.cancelled", "feed.stalled", "feed.published",
                                     "feed.finishes"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) theirs(keys[i], "");
  words(1, ours("claims"));
  words(1, ours("slots"));
  words(1, ours("runs"));
  words(1, ours("wake"));
  words(1, ours("events"));
  theirs("job.finish", "");
  theirs("feed.lease", ":");
  words(9, "1", "", "run:bench:1:", "finish", "0", "0", history, "", "1048576");
  words(1, "");
  for (int i = 0; i < count; ++i) {
    const struct text *job = jobs + per_job * i;
    char run[run_size + 1];
    snprintf(run, sizeof run, "%026lu", first_run + (unsigned long)i);
    words(2, "1", run);
    word(job->at, job->size);
    words(1, "{}");
    if (noted) {
      note_end(feed, run, job[0], job[1]);
    } else {
      words(2, "", "");
    }
  }
}

/* The reply to an end has three elements; the reply to a claim has six, and four for each job. Finishes these
 * jobs and claims the next. */
static void take_reply(void) {
  static struct text found[head + per_job * 4096];
  const int count = reply(found, sizeof found / sizeof *found);
  if (count < head) return;
  const int jobs = (count - head) / per_job;
  for (int i = 0; i < jobs; i += ended_at_once)
    finish(found + head + per_job * i, jobs - i < ended_at_once ? jobs - i : ended_at_once,
           next_run - batch + (unsigned long)i);
  if (jobs == 0) nanosleep(&(struct timespec){.tv_nsec = ms}, NULL);
  take();
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  resp_connect(argv[1]);
  take_sha = load_script(argv[2]);
  end_sha = load_script(argv[3]);
  feed = argv[4];
  batch = strtoul(argv[5], NULL, 10);
  history = history_limits(argv[6]);
  take();
  for (;;) {
    if (!reply_at_hand()) flush();
    take_reply();
  }
}
