// Statistics over time and marks of a fleet, on a real server.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/duration_bins.hpp"
#include "loop/loop.hpp"
#include "operator/statistics.hpp"
#include "redis/sync.hpp"
#include "store/fleet/marks.hpp"
#include "store/scripts.hpp"
#include "support/client_options.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"
#include "view/statistics.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace series_test {
namespace {

constexpr const char* key = "w8y-fleet:series:work";
const std::string day = "90000000";

struct Series {
  long long add(const std::vector<std::string>& words) {
    redis::Command args{day};
    args.insert(args.end(), words.begin(), words.end());
    return client.run(store::scripts::series_add, {key}, args).number;
  }
  view::Statistics read(const view::Span& span = view::span_hour) {
    verbs::QueryContext query{client, options, nullptr, "w8y-fleet"};
    server.command({"RPUSH", "work:list", "x"});  // otherwise the list is unknown
    return verbs::read_statistics(query, "work", span);
  }
  std::int64_t minute() const { return std::stoll(server.command({"TIME"})) / 60; }

  RedisServer server;
  loop::Loop loop;
  redis::ClientOptions options = options_for(server.url());
  redis::SyncClient client{loop, options};
};

/// Returns whether two durations differ by at most this factor, after both are rounded to 1 ms.
bool is_within(double shown, double exact, double factor) {
  return shown <= exact * factor + 1 && exact <= shown * factor + 1;
}

}  // namespace

TEST_CASE("hosts add to the same bucket of the hour and of the day") {
  Series f;
  CHECK(f.add({"0", "2", "1", "40:2", "64:1"}) == 2);
  CHECK(f.add({"0", "3", "0", "4:1,40:2", "-"}) == 2);
  for (const view::Span& span : {view::span_hour, view::span_day}) {
    const view::Statistics found = f.read(span);
    CHECK(found.buckets.size() == static_cast<std::size_t>(span.buckets));
    const view::StatisticsBucket sum = found.total();
    CHECK(sum.runs == 5);
    CHECK(sum.failed == 1);
    CHECK(sum.durations.text() == "4:1,40:4");
    CHECK(sum.cycles.text() == "64:1");
  }
  const long long life = std::stoll(f.server.command({"PTTL", key}));
  CHECK(life > 89'000'000);
  CHECK(life <= 90'000'000);
}

TEST_CASE("the age of a minute selects its bucket, and a minute before the span is ignored") {
  Series f;
  f.add({"0",   "1", "0", "-", "-", "59",   "2", "0", "-", "-",
         "300", "4", "0", "-", "-", "1500", "8", "0", "-", "-"});
  const view::Statistics hour = f.read();
  // A minute may have passed since.
  CHECK(hour.total().runs >= 1);
  CHECK(hour.total().runs <= 3);
  CHECK(f.read(view::span_day).total().runs == 7);
}

TEST_CASE("a bucket of an earlier hour and an invalid bucket are replaced") {
  Series f;
  const std::int64_t now = f.minute();
  for (std::int64_t minute = now; minute <= now + 1; ++minute)
    f.server.command({"HSET", key, "m" + std::to_string(minute % 60),
                      std::to_string(minute - 120) + " 100 100 40:100 -"});
  CHECK(f.read().total().runs == 0);
  f.add({"0", "1", "0", "40:1", "-"});
  CHECK(f.read().total().runs == 1);
  const std::int64_t later = f.minute();
  for (std::int64_t minute = later; minute <= later + 1; ++minute)
    f.server.command({"HSET", key, "m" + std::to_string(minute % 60), "nonsense"});
  f.add({"0", "1", "0", "40:1", "-"});
  CHECK(f.read().total().runs == 1);
}

TEST_CASE("a key of another type stays unchanged, and no bucket is written") {
  Series f;
  f.server.command({"SET", key, "mine"});
  CHECK(f.add({"0", "1", "0", "40:1", "-"}) == 0);
  CHECK(f.server.command({"GET", key}) == "mine");
  CHECK(f.server.command({"PTTL", key}) == "-1");
}

TEST_CASE("the statistics of a list take at most 48 KiB, and 128 KiB of memory of Redis") {
  Series f;
  // All bins of all buckets, with the largest counts.
  DurationBins all;
  for (unsigned bin = 0; bin <= DurationBins::last_bin; ++bin) all.add(bin, 4'000'000'000 + bin);
  std::vector<std::string> words;
  for (int age = 0; age < 24 * 60; age += 10)
    words.insert(words.end(),
                 {std::to_string(age), "4000000000", "4000000000", all.text(), all.text()});
  for (int age = 0; age < 60; ++age)
    words.insert(words.end(),
                 {std::to_string(age), "4000000000", "4000000000", all.text(), all.text()});
  f.add(words);
  CHECK(f.server.command({"HLEN", key}) == "108");
  long long bytes = 0;
  long long longest = 0;
  for (const char* name : {"m", "h"})
    for (int i = 0; i < 60; ++i) {
      const std::string field = name + std::to_string(i);
      const std::string value = f.server.command({"HGET", key, field});
      if (value == "(nil)") continue;
      bytes += static_cast<long long>(field.size() + value.size());
      longest = std::max(longest, static_cast<long long>(value.size()));
    }
  MESSAGE("bytes ", bytes, ", longest ", longest, ", memory ",
          f.server.command({"MEMORY", "USAGE", key, "SAMPLES", "0"}));
  CHECK(bytes <= 48 << 10);
  CHECK(longest < 1024);
  CHECK(std::stoll(f.server.command({"MEMORY", "USAGE", key, "SAMPLES", "0"})) <= 128 << 10);
  // The largest counts are kept. A new minute may have started since, and then the newest bucket is
  // empty.
  const view::Statistics hour = f.read();
  REQUIRE(hour.buckets.size() == 60);
  CHECK(hour.buckets[58].durations.count() >= all.count());
}

TEST_CASE("the error of a percentile has a bound that depends on the span of the durations") {
  struct Case {
    const char* name;
    double (*duration)(double u, double normal);  ///< ms; `u`: uniform from 0 to 1
    double bound;                                 ///< factor
  };
  // Durations within a factor of 100, of 10,000, and others.
  for (const Case& each : {
           Case{"log-uniform, 1 s to 100 s",
                [](double u, double) { return 1000 * std::pow(100, u); }, 1.1},
           Case{"log-uniform, 10 ms to 10 min",
                [](double u, double) { return 10 * std::pow(60'000, u); }, 1.42},
           Case{"log-normal", [](double, double n) { return 1000 * std::exp(1.5 * n); }, 1.42},
           Case{"exponential", [](double u, double) { return 1 - 1000 * std::log(1 - u); }, 1.2},
       }) {
    INFO(each.name);
    Series f;
    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same durations each time
    const auto uniform = [&] { return (static_cast<double>(random()) + 0.5) / 4294967296.0; };
    std::vector<double> all;
    // Writes as those of six hosts in an hour, all to one bucket.
    for (int call = 0; call < 360; ++call) {
      DurationBins bins;
      for (int run = 0; run < 30; ++run) {
        const double u = uniform();
        const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * u);
        const double ms = each.duration(u, normal);
        bins.add(std::chrono::microseconds(std::llround(ms * 1000)));
        all.push_back(ms);
      }
      f.add({"0", "30", "0", bins.text(), "-"});
    }
    std::sort(all.begin(), all.end());
    for (const view::Span& span : {view::span_hour, view::span_day}) {
      const DurationBins bins = f.read(span).total().durations;
      REQUIRE(bins.count() == all.size());
      for (const unsigned percent : {1U, 10U, 50U, 75U, 90U, 95U, 99U}) {
        const auto rank =
            static_cast<std::size_t>(std::ceil(static_cast<double>(all.size()) * percent / 100));
        const double exact = all[rank - 1];
        const auto shown = static_cast<double>(bins.percentile(percent)->count());
        INFO(percent, " %: exact ", exact, " ms, shown ", shown);
        CHECK(is_within(shown, exact, each.bound));
      }
    }
  }
}

TEST_CASE(
    "the error of percentiles is at most 42 %, and of those of cycles at most a factor of 2") {
  Series f;
  DurationBins all;
  for (unsigned bin = 0; bin < DurationBins::last_bin; ++bin) all.add(bin, 10'000);
  DurationBins cycles;
  for (unsigned bin = 8; bin < DurationBins::last_bin; ++bin) cycles.add(bin, 10);
  f.add({"0", "1070000", "0", all.text(), cycles.text()});
  f.add({"0", "1070000", "0", all.text(), cycles.text()});
  const view::StatisticsBucket sum = f.read().total();
  for (unsigned percent = 1; percent <= 100; ++percent) {
    INFO(percent);
    const auto shown = static_cast<double>(sum.durations.percentile(percent)->count());
    const auto exact = static_cast<double>(all.percentile(percent)->count());
    CHECK(is_within(shown, exact, 1.42));
    const auto cycle = static_cast<double>(sum.cycles.percentile(percent)->count());
    const auto real = static_cast<double>(cycles.percentile(percent)->count());
    CHECK(is_within(cycle, real, 2));
  }
}

TEST_CASE("an invalid width or bin of another client has no effect on valid bins") {
  Series f;
  const std::int64_t now = f.minute();
  for (const char* text : {"0/1:1", "99999999999999999999/1:1", "3/1:1", "108:1", "999999999:1",
                           "2/54:1", "7/8/9:1"}) {
    INFO("text ", std::string(text));
    for (std::int64_t minute = now; minute <= now + 1; ++minute)
      f.server.command({"HSET", key, "m" + std::to_string(minute % 60),
                        std::to_string(minute) + " 1 0 " + text + " -"});
    CHECK(f.add({"0", "5", "0", "40:5", "-"}) == 2);
    const DurationBins bins = f.read().total().durations;
    CHECK(bins.count() >= 5);
    CHECK(bins.count() <= 7);
  }
}

TEST_CASE("a start with another version than before is recorded as a mark") {
  Series f;
  store::FleetMarks marks(f.client.client(), "w8y-fleet");
  const auto start = [&](const char* host, const char* version) {
    marks.record_start(host, version, f.read().now);
    REQUIRE(turn_until(f.loop, [&] {
      return f.server.command({"GET", std::string("w8y-fleet:version:") + host}) == version;
    }));
    turn_for(f.loop, 20ms);
  };
  start("alpha", "1.0");
  start("alpha", "1.0");
  CHECK(f.read().marks.empty());
  start("beta", "2.0");
  CHECK(f.read().marks.empty());
  start("alpha", "2.0");
  REQUIRE(turn_until(f.loop, [&] { return !f.read().marks.empty(); }));
  const auto found = f.read().marks;
  CHECK(found.size() == 1);
  CHECK(found[0].host == "alpha");
  CHECK(found[0].text == "w8yd 2.0, before 1.0");
}

TEST_CASE("equal marks become one, marks of other lists are omitted, and the newest 256 are kept") {
  Series f;
  store::FleetMarks marks(f.client.client(), "w8y-fleet");
  using Kind = view::StatisticsMark::Kind;
  const WallTime now = f.read().now;
  marks.record({now - 2s, Kind::breaker, {}, "work", "16 of 20"});
  marks.record({now - 2s, Kind::breaker, {}, "work", "16 of 20"});
  marks.record({now - 1s, Kind::breaker, {}, "other", "9 of 10"});
  marks.record({now - 3s, Kind::reload, "alpha", {}, "1 change"});
  marks.record({now - 2h, Kind::reload, "alpha", {}, "2 changes"});
  REQUIRE(turn_until(f.loop, [&] {
    return f.server.command({"ZCARD", "w8y-fleet:marks"}) == "4";
  }));
  const auto found = f.read().marks;
  REQUIRE(found.size() == 2);
  CHECK(found[0].text == "1 change");
  CHECK(found[1].text == "16 of 20");
  CHECK(f.read(view::span_day).marks.size() == 3);
  for (int i = 0; i < 300; ++i)
    marks.record({now - 1h + WallTime(i), Kind::reload, "beta", {}, std::to_string(i)});
  CHECK(turn_until(f.loop, [&] {
    return f.server.command({"ZCARD", "w8y-fleet:marks"}) == "256";
  }));
}

}  // namespace series_test
