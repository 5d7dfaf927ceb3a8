/* bare_stream SOCKET CLAIM.lua SETTLE.lua PREFIX BATCH LANES SECONDS HISTORY
 *
 * Claims BATCH items at a time and settles them at once, by the scripts of w8yd and in calls of the same size.
 * LANES claims are in flight on one connection, so that Redis never waits. HISTORY above 0: writes history
 * and events as w8yd does. Prints the number of items that were settled, and the seconds.
 */
#include "circular.h"

static unsigned long batch;

/* The reply to a settlement has three elements; that to a claim has five, or eight and more. In the second
 * case, its items are settled and the next are claimed. */
static unsigned long take_reply(int more) {
  static struct text found[claim_header + 3 * 4096];
  static unsigned long oldest_run;
  const int count = reply(found, sizeof found / sizeof *found);
  if (count < 5) {
    if (count == 3) note_settled(found);
    return 0;
  }
  const int items = count < claim_header ? 0 : (count - claim_header) / 3;
  struct claimed ends[settled_at_once];
  for (int i = 0; i < items; i += settled_at_once) {
    const int some = items - i < settled_at_once ? items - i : settled_at_once;
    for (int j = 0; j < some; ++j) {
      const struct text *words_of = found + claim_header + 3 * (i + j);
      ends[j] = (struct claimed){oldest_run + (unsigned long)(i + j), words_of[0], words_of[1]};
      tell_start(&ends[j]);
    }
    settle(ends, some);
  }
  oldest_run += batch;
  if (more) claim(batch);
  return (unsigned long)items;
}

int main(int argc, char **argv) {
  if (argc != 9) return 2;
  resp_connect(argv[1]);
  circular_open(argv[2], argv[3], argv[4], argv[8]);
  batch = strtoul(argv[5], NULL, 10);
  unsigned long lanes = strtoul(argv[6], NULL, 10);
  const uint64_t span = (uint64_t)(strtod(argv[7], NULL) * 1e9);

  const uint64_t since = now_ns();
  unsigned long items = 0;
  while (lanes-- > 0) claim(batch);
  flush();
  while (unanswered() > 0) {
    items += take_reply(now_ns() - since < span);
    if (!reply_at_hand()) flush();
  }
  check_settled();
  printf("%lu %.6f\n", items, (double)(now_ns() - since) / 1e9);
  return 0;
}
