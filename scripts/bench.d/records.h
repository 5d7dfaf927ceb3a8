/* Events and history with the same contents and length as those of w8yd. */
#ifndef W8Y_BENCH_RECORDS_H
#define W8Y_BENCH_RECORDS_H

#include "resp.h"

enum { run_size = 26 };

/* Limits of the history for the scripts: "0", or the numbers of records and bytes. */
static const char *history_limits(const char *records) {
  static char limits[64];
  if (strcmp(records, "0") == 0) return "0";
  snprintf(limits, sizeof limits, "%s 16777216", records);
  return limits;
}

static void publish_start(const char *channel, const char *list, unsigned long run,
                          struct text item) {
  char start[512];
  snprintf(start, sizeof start,
           "{\"type\":\"start\",\"list\":\"%s\",\"run\":\"%026lu\",\"item\":\"%.*s\",\"host\":"
           "\"bench\",\"time_ms\":1732147200000,\"pid\":1000}",
           list, run, (int)item.size, item.at);
  begin(3);
  words(3, "PUBLISH", channel, start);
}

/* The message for the events channel, and the further members of the run record. */
static void note_end(const char *list, const char *run, struct text item, struct text fence) {
  char end[512];
  snprintf(end, sizeof end,
           "{\"type\":\"end\",\"list\":\"%s\",\"run\":\"%s\",\"item\":\"%.*s\",\"host\":\"bench\","
           "\"time_ms\":1732147200000,\"outcome\":\"succeeded\",\"duration_ms\":1,\"attempt\":1,\"fence\":%.*s,"
           "\"result\":{}}",
           list, run, (int)item.size, item.at, (int)fence.size, fence.at);
  words(2, end, "");
}

#endif
