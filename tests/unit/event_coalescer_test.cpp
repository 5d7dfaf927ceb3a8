#include "core/event_coalescer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "fakes.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace gathered_test {
namespace {

struct Told : World {
  EventCoalescer gathered{clock, timers};
  ProblemTracker errors{gathered, "short",
                        [this](const std::string& reason, const Group& group) {
                          log.push_back("begun " + reason + ": " + group.names());
                        },
                        [this](const std::string& reason, const ProblemTracker::Over& over) {
                          log.push_back("over " + reason + ": " + over.group.names() + ", " +
                                        std::to_string(over.attempts));
                        }};
  void add(const std::string& key, const std::string& list) {
    gathered.add(key, list, [this, key](const Group& group) {
      log.push_back(key + ": " + std::to_string(group.count) + " of " + group.names());
    });
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("events of many lists with one cause are coalesced to one line with their number") {
  Told told;
  for (int i = 0; i < 300; ++i) {
    told.add("lost", "list" + std::to_string(100 + i));
    told.run_for(1ms);
  }
  told.add("other", "x");
  CHECK(told.log.empty());
  told.run_for(1s);
  CHECK(told.log == Lines{"lost: 300 of list100, list101, list102 and 297 more", "other: 1 of x"});
  told.add("lost", "a");
  told.add("lost", "a");
  told.gathered.flush();
  CHECK(told.log.back() == "lost: 2 of a");
}

TEST_CASE("an event that repeats for 10 s is logged three times") {
  Told told;
  for (int i = 0; i < 100; ++i) {
    told.add("lost", "a");
    told.run_for(100ms);
  }
  CHECK(told.log.size() == 3);
}

TEST_CASE("an error of many lists has one start and one end in the log") {
  Told told;
  std::vector<int> who(300);
  for (std::size_t i = 0; i < who.size(); ++i)
    told.errors.begin(&who[i], std::to_string(1000 + i), "no processes");
  told.run_for(1s);
  CHECK(told.log == Lines{"begun no processes: 1000, 1001, 1002 and 297 more"});
  int late = 0;
  told.errors.begin(&late, "late", "no processes");
  told.run_for(1h);
  for (const int& each : who) told.errors.end(&each, 2);
  CHECK(told.log.size() == 1);
  told.errors.end(&late, 1);
  CHECK(told.log.back() == "over no processes: 1000, 1001, 1002 and 298 more, 601");
  told.run_for(1h);
  CHECK(told.log.size() == 2);
  CHECK_FALSE(told.errors.any());
}

TEST_CASE("a short error has a start and an end, and an error of a removed list has no end") {
  Told told;
  int a = 0;
  int b = 0;
  told.errors.begin(&a, "a", "no disk");
  told.errors.end(&a, 1);
  CHECK(told.log == Lines{"begun no disk: a", "over no disk: a, 1"});
  told.errors.begin(&b, "b", "no disk");
  told.run_for(1s);
  told.errors.forget(&b);
  told.errors.end(&b);
  CHECK(told.log.size() == 3);
  CHECK_FALSE(told.errors.any());
}

}  // namespace gathered_test
