#include "store/lock_value.hpp"

#include <doctest/doctest.h>

using namespace w8y::store;

TEST_CASE("a lock value is parsed as it was written") {
  const std::string value = running_lock("alpha", "77", "01J");
  CHECK(value == "run:alpha:77:01J");
  const LockValue running = read_lock_value(value);
  REQUIRE(std::holds_alternative<RunningLock>(running));
  CHECK(std::get<RunningLock>(running).host == "alpha");
  CHECK(std::get<RunningLock>(running).pid == "77");
  CHECK(std::get<RunningLock>(running).run == "01J");
  for (const bool failed : {true, false}) {
    const std::string rest = resting_lock(failed);
    CHECK(is_resting(rest));
    CHECK(std::get<RestingLock>(read_lock_value(rest)).why == (failed ? "backoff" : "cooldown"));
  }
  const std::string quarantined = quarantined_lock("manual");
  CHECK(is_quarantined(quarantined));
  CHECK(is_quarantined(quarantined.substr(0, lock_kind_bytes)));
  CHECK(std::get<QuarantinedLock>(read_lock_value(quarantined)).by == "manual");
}

TEST_CASE("lock values of other programs are parsed as far as possible") {
  CHECK(std::get<RunningLock>(read_lock_value("run:a:1.3456:x")).pid == "1");
  CHECK(std::get<RunningLock>(read_lock_value("run:a:b:1:x")).host == "a:b");
  for (const char* value :
       {"", "1", "run:", "run:a", "run:a:", "ruN:a:1:x", "rest", "quarantine"}) {
    CAPTURE(value);
    const LockValue read = read_lock_value(value);
    REQUIRE(std::holds_alternative<OtherLock>(read));
    CHECK(std::get<OtherLock>(read).value == value);
  }
}
