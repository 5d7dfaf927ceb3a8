/* empty_loop WAKES: a libuv loop that wakes WAKES times per second and has nothing to do. */
#include "bare.h"

#include <uv.h>

static void nothing(uv_timer_t *timer) { (void)timer; }

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  uv_timer_t timer;
  const uint64_t pause_ms = 1000 / strtoul(argv[1], NULL, 10);
  uv_timer_init(uv_default_loop(), &timer);
  uv_timer_start(&timer, nothing, pause_ms, pause_ms);
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
