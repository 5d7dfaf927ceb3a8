/* bare_stream SOCKET CLAIM.lua SETTLE.lua PREFIX BATCH LANES SECONDS HISTORY
 *
 * Claims BATCH items at a time and settles them at once, by the scripts that w8yd uses and in calls
 * as large as its own, over LANES claims at a time on one connection, so that Redis never waits.
 * HISTORY above 0: with history and news as w8yd writes them. Prints how many items were settled,
 * and in how many seconds.
 */
#include "records.h"

enum { settled_at_once = 32 };

static const char *prefix, *settle_sha, *claim_sha, *history;
static char keys[11][256];
static unsigned long batch, next_run;

static void key(int number, const char *name) {
  snprintf(keys[number], sizeof keys[number], "%s:%s", prefix, name);
}

static void claim(void) {
  char wake[256];
  snprintf(wake, sizeof wake, "%s:wake", prefix);
  begin(3 + 8 + 15 + (int)batch);
  words(3, "EVALSHA", claim_sha, "8");
  words(8, keys[0], keys[1], keys[2], keys[3], keys[4], keys[8], keys[9], keys[10]);
  words(15, keys[7], "run:bench:1:", "5000", "0", "-1", "256", "0", "0", wake, "0", "1048576", "64",
        "16777216", "4097", "");
  for (unsigned long i = 0; i < batch; ++i) {
    char run[run_size + 1];
    snprintf(run, sizeof run, "%026lu", next_run++);
    word(run, run_size);
  }
}

/* `items`: from the reply to a claim, three words each. */
static void settle(const struct text *items, int count, unsigned long first_run) {
  const int noted = strcmp(history, "0") != 0;
  char number[32];
  for (int i = 0; noted && i < count; ++i)
    publish_start(keys[6], prefix, first_run + (unsigned long)i, items[3 * i]);
  begin(3 + 6 + count + 4 + 8 + count * 4);
  snprintf(number, sizeof number, "%d", 6 + count);
  words(3, "EVALSHA", settle_sha, number);
  words(5, keys[2], keys[3], keys[5], keys[0], keys[8]);
  for (int i = 0; i < count; ++i) {
    char lock[256];
    const int size = snprintf(lock, sizeof lock, "%s%.*s", keys[7], (int)items[3 * i].size,
                              items[3 * i].at);
    word(lock, (size_t)size);
  }
  words(1, keys[9]);
  char wake[256];
  snprintf(wake, sizeof wake, "%s:wake", prefix);
  words(4, keys[6], wake, keys[7], "1");
  words(8, "run:bench:1:", "", "0", "", "reset", "0", "0", history);
  for (int i = 0; i < count; ++i) {
    char run[run_size + 1];
    snprintf(run, sizeof run, "%026lu", first_run + (unsigned long)i);
    words(2, "1", run);
    if (noted) {
      note_end(prefix, run, items[3 * i], items[3 * i + 1]);
    } else {
      words(2, "", "");
    }
  }
}

/* A settlement is answered by two words; a claim by four, or by seven and more, after which its items
 * are settled and the next are claimed. */
static unsigned long take_reply(int more) {
  static struct text found[7 + 3 * 4096];
  static unsigned long oldest_run;
  const int count = reply(found, sizeof found / sizeof *found);
  if (count < 4) return 0;
  const int items = count < 7 ? 0 : (count - 7) / 3;
  for (int i = 0; i < items; i += settled_at_once)
    settle(found + 7 + 3 * i, items - i < settled_at_once ? items - i : settled_at_once,
           oldest_run + (unsigned long)i);
  oldest_run += batch;
  if (more) claim();
  return (unsigned long)items;
}

int main(int argc, char **argv) {
  if (argc != 9) return 2;
  resp_connect(argv[1]);
  claim_sha = load_script(argv[2]);
  settle_sha = load_script(argv[3]);
  prefix = argv[4];
  batch = strtoul(argv[5], NULL, 10);
  unsigned long lanes = strtoul(argv[6], NULL, 10);
  const uint64_t span = (uint64_t)(strtod(argv[7], NULL) * 1e9);
  history = argv[8];
  static const char *const names[] = {"list", "fence",  "failures", "slots",       "paused",
                                      "runs", "events", "lock:",    "quarantined", "waiting",
                                      "visits"};
  for (int i = 0; i < 11; ++i) key(i, names[i]);

  const uint64_t since = now_ns();
  unsigned long items = 0;
  while (lanes-- > 0) claim();
  flush();
  while (unanswered() > 0) {
    items += take_reply(now_ns() - since < span);
    if (!reply_at_hand()) flush();
  }
  printf("%lu %.6f\n", items, (double)(now_ns() - since) / 1e9);
  return 0;
}
