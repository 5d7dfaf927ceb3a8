// Histograms of durations, and statistics over time.
#include "core/duration_bins.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/runs_per_minute.hpp"
#include "view/statistics.hpp"

using namespace w8y;
using namespace std::chrono_literals;

namespace duration_bins_test {
namespace {

double ratio(WallTime found, Duration added) {
  return static_cast<double>(found.count()) * 1000 / static_cast<double>(added.count());
}

}  // namespace

TEST_CASE("percentiles of one duration have an error of at most 10 % or 1 ms") {
  for (Duration each = 1ms; each < 24h; each = each * 21 / 20) {
    DurationBins bins;
    bins.add(each);
    INFO(each.count());
    for (const unsigned percent : {1U, 50U, 95U, 100U}) {
      const auto found = bins.percentile(percent);
      REQUIRE(found.has_value());
      CHECK((std::abs(ratio(*found, each) - 1) < 0.1 || abs(*found - each) <= 1ms));
    }
  }
}

TEST_CASE("durations beyond the bounds are in the first and the last bin") {
  CHECK(DurationBins::bin_of(0ms) == 0);
  CHECK(DurationBins::bin_of(-5s) == 0);
  CHECK(DurationBins::bin_of(1ms) == 0);
  CHECK(DurationBins::bin_of(2ms) == 4);
  CHECK(DurationBins::bin_of(1000h) == DurationBins::last_bin);
  CHECK_FALSE(DurationBins().percentile(50).has_value());
}

TEST_CASE("percentiles separate 94 short durations from 6 long ones") {
  DurationBins bins;
  for (int i = 0; i < 94; ++i) bins.add(100ms);
  for (int i = 0; i < 6; ++i) bins.add(10s);
  CHECK(std::abs(ratio(*bins.percentile(50), 100ms) - 1) < 0.1);
  CHECK(std::abs(ratio(*bins.percentile(95), 10s) - 1) < 0.1);
  CHECK(bins.count() == 100);
}

TEST_CASE("the text of a histogram has the same bins, and invalid parts are ignored") {
  DurationBins bins;
  bins.add(1s);
  bins.add(2ms);
  bins.add(1s);
  CHECK(bins.text() == "4:1,40:2");
  CHECK(DurationBins::parse(bins.text()) == bins);
  CHECK(DurationBins().text() == "-");
  CHECK(DurationBins::parse("-").empty());
  CHECK(DurationBins::parse("4:1,x:2,40:,108:1,-1:3,4:99999999999999999999,40:2,,:") == bins);
  DurationBins sum = bins;
  sum += bins;
  CHECK(sum.text() == "4:2,40:4");
}

TEST_CASE("a wider bin counts durations at the middle of the bins of which it consists") {
  // Bins 40 to 43: more than 861 ms, at most 1722 ms.
  const DurationBins wide = DurationBins::parse("4/10:3,11:1");
  CHECK(wide.count() == 4);
  CHECK(std::abs(ratio(*wide.percentile(50), 1218ms) - 1) < 0.01);
  // Bins of different widths stay in order.
  DurationBins mixed = DurationBins::parse("40:1,43:1");
  mixed += wide;
  CHECK(std::abs(ratio(*mixed.percentile(1), 939ms) - 1) < 0.01);
  CHECK(std::abs(ratio(*mixed.percentile(50), 1218ms) - 1) < 0.01);
  CHECK(mixed.percentile(70) > 1500ms);
  for (const char* text : {"0/1:1", "129/0:1", "x/1:1", "-1/1:1", "2/54:1", "/1:1"}) {
    INFO(text);
    CHECK(DurationBins::parse(text).empty());
  }
}

TEST_CASE("drained statistics have each minute once, all lists first, and nothing twice") {
  RunsPerMinute hour;
  hour.add("a", false, 1s, 10min);
  hour.add("a", true, 2ms, 10min);
  hour.add("a", false, 1s, 11min);
  hour.add("b", false, 1s, 11min);
  hour.add_cycle("c", 1min, 11min);
  std::string seen;
  for (const MinuteStats& each : hour.drain(10))
    seen += each.list.value_or("all") + " " + std::to_string(each.count.minute) + " " +
            std::to_string(each.count.runs) + " " + std::to_string(each.count.failed) + " " +
            each.durations.text() + " " + each.cycles.text() + "\n";
  CHECK(
      seen.starts_with("all 10 2 1 4:1,40:1 -\nall 11 2 0 40:2 64:1\na 10 2 1 4:1,40:1 -\n"
                       "a 11 1 0 40:1 -\n"));
  CHECK(seen.find("b 11 1 0 40:1 -\n") != std::string::npos);
  CHECK(seen.find("c 11 0 0 - 64:1\n") != std::string::npos);
  CHECK(hour.drain(10).empty());
  CHECK(hour.sum("a", 11min).runs == 3);
}

TEST_CASE("drained statistics have a limit of lists, and the next call returns the others") {
  RunsPerMinute hour;
  for (int i = 0; i < 5; ++i) hour.add("list" + std::to_string(i), false, 1s, 10min);
  const auto first = hour.drain(3);
  REQUIRE(first.size() == 1 + 3);
  hour.add(*first.back().list, false, 1s, 11min);
  const auto rest = hour.drain(2);
  CHECK(rest.size() == 1 + 2);
  CHECK(rest[1].count.minute == 10);
  CHECK(rest[2].count.minute == 10);
}

TEST_CASE("statistics that are never drained use memory for the last 60 minutes with runs") {
  RunsPerMinute hour;
  for (int i = 0; i < 200; ++i) hour.add("a", false, 1s, std::chrono::minutes(i));
  const auto all = hour.drain(1);
  CHECK(all.size() == 2 * static_cast<std::size_t>(RunsPerMinute::length));
  CHECK(all.front().count.minute == 140);
}

TEST_CASE("a bucket is parsed from its text in Redis") {
  const auto bucket = view::read_bucket("29000000 5 2 40:5 -");
  REQUIRE(bucket.has_value());
  CHECK(bucket->at == std::chrono::minutes(29'000'000));
  CHECK(bucket->runs == 5);
  CHECK(bucket->failed == 2);
  CHECK(bucket->durations.count() == 5);
  CHECK(bucket->cycles.empty());
  for (const char* text : {"", "1 2", "x 5 2 - -", "29000000 -5 2 - -", "29000000 5 2 - - more",
                           "99999999999999 5 2 - -"})
    CHECK_FALSE(view::read_bucket(text).has_value());
}

TEST_CASE("a mark is read as it was written, also with a list of any bytes") {
  view::StatisticsMark mark{1234ms, view::StatisticsMark::Kind::breaker, {}, "a\xff", "16 of 20"};
  const auto read = view::read_mark(to_text(mark));
  REQUIRE(read.has_value());
  CHECK(read->at == mark.at);
  CHECK(read->kind == mark.kind);
  CHECK(read->host.empty());
  CHECK(read->list == mark.list);
  CHECK(read->text == mark.text);
  CHECK_FALSE(view::read_mark("{}").has_value());
  CHECK_FALSE(view::read_mark(R"({"at_ms":1,"kind":"other"})").has_value());
}

TEST_CASE("the JSON of statistics omits unknown percentiles") {
  view::Statistics statistics;
  statistics.now = 90s;
  statistics.buckets = {*view::read_bucket("0 2 1 40:2 -"), *view::read_bucket("1 0 0 - -")};
  CHECK(view::to_json(statistics) ==
        R"({"span":"hour","at_ms":90000,"bucket_ms":60000,)"
        R"("total":{"runs":2,"failed":1,"p50_ms":939,"p95_ms":939},)"
        R"("buckets":[{"at_ms":0,"runs":2,"failed":1,"p50_ms":939,"p95_ms":939},)"
        R"({"at_ms":60000,"runs":0,"failed":0}],"marks":[]})");
}

}  // namespace duration_bins_test
