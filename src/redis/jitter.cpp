#include "redis/jitter.hpp"

#include <sys/random.h>

#include <cstdint>

namespace w8y::redis {

Duration jittered(Duration pause) {
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0) random = 0;
  return pause / 2 + pause * (random % 1024) / 2048;
}

}  // namespace w8y::redis
