// Problems of a host: one entry per cause, however many lists it concerns. The most severe one is
// first.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/status.hpp"
#include "view/json_fields.hpp"

namespace w8y {

struct Problem {
  /// Sorted by severity, the most severe first.
  enum class Kind {
    redis,         ///< Redis is unavailable
    format,        ///< a live host of the fleet that started earlier uses another format
    gearman,       ///< a gearmand is unavailable
    unavailable,   ///< Redis refuses some lists
    unresponsive,  ///< a host of the fleet has died
    clock,         ///< the clock of Redis jumped within the last hour
    write_error,   ///< Redis refuses part of the settlements
    starved,       ///< the host has a shortage of processes, descriptors, memory or disk space
    breaker_open,  ///< the fleet claims nothing but probes, because too many runs failed
    quarantined,   ///< items that are quarantined until an operator releases them
    stalled,       ///< jobs that are stalled until an operator retries them
    invalid,       ///< jobs whose schedule is invalid: status BAD
    died,          ///< jobs that failed and do not run again: status DIE
    failing,       ///< more runs failed within the last hour than alert_failures permits
    overdue,       ///< items wait longer for a run than overdue_after of their list
    paused,
    ineligible,       ///< lists that no host serves; without Redis: that this host cannot serve
    config_outdated,  ///< the config in force is not the latest one, as far as this host knows
    quiet,            ///< the host starts no new runs
    draining,
  };
  Kind kind = Kind::redis;
  std::string host;                ///< of a problem of the fleet: its host; may be empty
  std::string text;                ///< a sentence for the operator
  std::size_t lists = 0;           ///< number of lists; 0: the problem concerns the whole host
  std::vector<std::string> first;  ///< prefixes of the first lists
  std::uint64_t count = 0;         ///< number of items or runs; 0: the problem is about neither
};

/// Collects problems: first of the host, then of each list. drain() returns them.
class Problems {
 public:
  /// Time for which a run that did not succeed is a problem.
  static constexpr Duration fresh = std::chrono::hours(1);
  /// Maximum number of lists that a problem names, and of problems of one kind.
  static constexpr std::size_t max_named = 3;
  static constexpr std::size_t max_causes = 20;

  explicit Problems(HostStatus host);
  void add(const ListStatus& list);
  [[nodiscard]] std::vector<Problem> drain();

 private:
  struct Cause {
    std::size_t lists = 0;
    std::vector<std::string> first;       ///< prefixes
    std::vector<std::uint64_t> of_first;  ///< count of each of these lists
    std::uint64_t count = 0;
    std::uint64_t of = 0;  ///< total number of runs
    WallTime last{0};
  };
  void add(Problem::Kind kind, const std::string& why, const ListStatus& list,
           std::uint64_t count = 0);
  void add_failures(const ListStatus& list);
  static std::string names_of(Problem::Kind kind, const Cause& cause);
  [[nodiscard]] Problem problem_of(Problem::Kind kind, const std::string& why,
                                   const Cause& cause) const;

  const HostStatus host_;
  std::size_t waiting_ = 0;  ///< lists that would be served if Redis were available
  /// By kind and reason.
  std::map<std::pair<Problem::Kind, std::string>, Cause> causes_;
};

/// Returns the error of the last reload, which has failed.
std::string reload_error(const HostStatus& host);
/// Returns "a", "a and b" or "a, b, c and 297 more". `all`: number of parts, of which the first are
/// given.
std::string joined(const std::vector<std::string>& parts, std::size_t all);
/// Returns the name of the kind: "redis", "quarantined", …
const char* kind_name(Problem::Kind kind);

/// Returns a JSON object (w8y-api(7)).
std::string to_json(const Problem& problem);
/// Part of a problem in JSON that w8yctl prints.
struct ShownProblem {
  std::string kind;  ///< kind_name()
  std::string host;  ///< of a problem of the fleet; may be empty
  std::string text;
};
std::vector<ShownProblem> read_problems(const view::JsonFields& json);
/// Replaces the problems of one kind from the 21st on by one with their number. A fleet may have
/// 1,000 quiet hosts.
template <class P>
void limit_per_kind(std::vector<P>& problems) {
  std::map<decltype(P::kind), std::size_t> counts;
  std::erase_if(problems, [&counts](const P& problem) {
    return ++counts[problem.kind] > Problems::max_causes;
  });
  for (const auto& each : counts) {
    if (each.second <= Problems::max_causes) continue;
    P rest;
    rest.kind = each.first;
    rest.text =
        std::to_string(each.second - Problems::max_causes) + " more problems of the fleet: ";
    if constexpr (requires { kind_name(rest.kind); })
      rest.text += kind_name(rest.kind);
    else
      rest.text += rest.kind;
    problems.push_back(std::move(rest));
  }
}
/// Returns the JSON array of to_json().
std::string to_json(const std::vector<Problem>& problems);

}  // namespace w8y
