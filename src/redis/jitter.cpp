#include "redis/jitter.hpp"

#include <sys/random.h>

namespace w8y::redis {

namespace {

std::uint32_t system_random() {
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0) random = 0;
  return random;
}

thread_local RandomNumber random_number = system_random;

}  // namespace

Duration jittered(Duration pause) {
  return pause / 2 + pause * (random_number() % 1024) / 2048;
}

void provide_randomness(RandomNumber random) {
  random_number = random;
}

}  // namespace w8y::redis
