#include "redis/jitter.hpp"

#include <sys/random.h>

namespace w8y::redis {

namespace {

std::uint32_t system_random() {
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0) random = 0;
  return random;
}

thread_local RandomNumber random_number = nullptr;

}  // namespace

Duration jittered(Duration pause) {
  const std::uint32_t random = random_number != nullptr ? random_number() : system_random();
  return pause / 2 + pause * (random % 1024) / 2048;
}

void provide_randomness(RandomNumber random) {
  random_number = random;
}

RandomNumber provided_randomness() {
  return random_number;
}

}  // namespace w8y::redis
