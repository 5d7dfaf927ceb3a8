// Metrics of a host as text.
#include "ops/metrics.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "core/status.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace std::chrono_literals;

namespace metrics_test {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// A list that has had a run, with statistics.
ListMetrics used_list(const std::string& prefix) {
  ListMetrics list{prefix, ListState::running, std::make_unique<ActiveListMetrics>()};
  list.living->ran = true;
  list.living->stats.emplace();
  return list;
}

}  // namespace

TEST_CASE("a list has a series for each state, and 1 only for its own state") {
  HostMetrics host;
  host.lists.push_back({"feeds", ListState::paused, nullptr});
  const std::string text = metrics_text(host);
  CHECK(count(text, "\nw8y_list_state{") == all_list_states.size());
  for (const ListState state : all_list_states) {
    const std::string value = state == ListState::paused ? "1" : "0";
    const std::string series =
        std::string("w8y_list_state{list=\"feeds\",state=\"") + state_name(state) + "\"} ";
    CAPTURE(series);
    CHECK(has_line(text, series + value));
  }
}

TEST_CASE("all states of lists have a name, in their order") {
  int next = 0;
  for (const ListState state : all_list_states) {
    CHECK(static_cast<int>(state) == next++);
    CHECK(list_state(state_name(state)) == state);
  }
  CHECK(std::string(state_name(static_cast<ListState>(next))) == "?");
}

TEST_CASE("a limit of slots that does not exist is infinite") {
  HostMetrics host;
  CHECK(has_line(metrics_text(host), "w8y_slots_limit +Inf"));
  host.host.slots_limit = 7;
  CHECK(has_line(metrics_text(host), "w8y_slots_limit 7"));
}

TEST_CASE("a failed reload is shown until a reload succeeds") {
  HostMetrics host;
  CHECK(has_line(metrics_text(host), "w8y_reload_last_success 1"));
  host.last_reload_succeeded = false;
  CHECK(has_line(metrics_text(host), "w8y_reload_last_success 0"));
}

TEST_CASE("unresponsive hosts are counted apart from hosts with heartbeats") {
  HostMetrics host;
  CHECK(has_line(metrics_text(host), "w8y_fleet_hosts 1"));
  CHECK(has_line(metrics_text(host), "w8y_fleet_hosts_unresponsive 0"));
  host.fleet = FleetCounts{3, 1, 2, {}};
  const std::string text = metrics_text(host);
  CHECK(has_line(text, "w8y_fleet_hosts 3"));
  CHECK(has_line(text, "w8y_fleet_hosts_outdated 1"));
  CHECK(has_line(text, "w8y_fleet_hosts_unresponsive 2"));
}

TEST_CASE("the last success is a Unix time in seconds, and is omitted before the first success") {
  HostMetrics host;
  host.lists.push_back(used_list("feeds"));
  CHECK(count(metrics_text(host), "w8y_list_last_success_timestamp_seconds{") == 0);
  host.lists[0].living->run_stats.last_success = WallTime(1'700'000'000'500);
  CHECK(has_line(metrics_text(host),
                 "w8y_list_last_success_timestamp_seconds{list=\"feeds\"} 1700000000.5"));
}

TEST_CASE("the slots that a list needs are shown if they are known, also if they are 0") {
  HostMetrics host;
  host.lists.push_back(used_list("feeds"));
  CHECK(count(metrics_text(host), "w8y_list_slots_needed{") == 0);
  host.lists[0].living->stats->slots_needed = 0;
  CHECK(has_line(metrics_text(host), "w8y_list_slots_needed{list=\"feeds\"} 0"));
}

TEST_CASE("durations of runs have buckets from 5 ms to 1 hour") {
  HostMetrics host;
  host.lists.push_back(used_list("feeds"));
  host.lists[0].living->run_stats.runs.add(5ms);
  host.lists[0].living->run_stats.runs.add(59min);
  host.lists[0].living->run_stats.runs.add(61min);
  const std::string text = metrics_text(host);
  const auto bucket = [](const std::string& bound) {
    return "w8y_run_duration_seconds_bucket{list=\"feeds\",le=\"" + bound + "\"} ";
  };
  CHECK(has_line(text, bucket("0.005") + "1"));
  CHECK(has_line(text, bucket("1800") + "1"));
  CHECK(has_line(text, bucket("3600") + "2"));
  CHECK(has_line(text, bucket("+Inf") + "3"));
}

TEST_CASE("a metric of many lists has its description once") {
  HostMetrics host;
  constexpr std::size_t lists = 2000;
  for (std::size_t i = 0; i < lists; ++i)
    host.lists.push_back({"list " + std::to_string(i), ListState::idle, nullptr});
  const std::string text = metrics_text(host);
  CHECK(count(text, "# HELP w8y_list_state ") == 1);
  CHECK(count(text, "# TYPE w8y_list_state ") == 1);
  CHECK(count(text, "\nw8y_list_state{") == lists * all_list_states.size());
  CHECK(count(text, "state=\"idle\"} 1\n") == lists);
}

}  // namespace metrics_test
