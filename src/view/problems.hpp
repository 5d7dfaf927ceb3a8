// What is wrong on a host: one entry per cause, however many lists it concerns; the worst first.
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
  /// In the order in which they are told.
  enum class Kind {
    redis,        ///< it can't be used
    format,       ///< a live host of the fleet that started earlier uses another format
    gearman,      ///< a gearmand can't be used
    unavailable,  ///< Redis refuses some lists
    clock,        ///< the clock of Redis jumped within the last hour
    write_error,  ///< it refuses part of what is written of runs
    starved,      ///< this host is short of something
    quarantined,  ///< items that wait for an operator
    invalid,      ///< jobs whose schedule is invalid: status BAD
    died,         ///< jobs that failed and do not run again: status DIE
    failing,      ///< runs that did not succeed, the last one not long ago
    overdue,      ///< items wait longer for their turn than their list's overdue_after
    paused,
    ineligible,       ///< lists that this host can't serve
    config_outdated,  ///< the config in force is not the one in the file, as far as this host knows
    quiet,            ///< this host begins no new runs
    draining,
  };
  Kind kind = Kind::redis;
  std::string text;                ///< a sentence for people
  std::size_t lists = 0;           ///< that it concerns; 0: the host as a whole
  std::vector<std::string> first;  ///< the prefixes of the first few of them
  std::uint64_t count = 0;         ///< of items or runs; 0: of neither
};

/// Gathers them: the host first, then each list; then all at once.
class Problems {
 public:
  /// A run that did not succeed is told for so long.
  static constexpr Duration fresh = std::chrono::hours(1);
  /// Lists that are named, and causes of one kind that are told one by one.
  static constexpr std::size_t max_named = 3;
  static constexpr std::size_t max_causes = 20;

  explicit Problems(HostStatus host);
  void add(const ListStatus& list);
  [[nodiscard]] std::vector<Problem> take();

 private:
  struct Cause {
    std::size_t lists = 0;
    std::vector<std::string> first;       ///< prefixes
    std::vector<std::uint64_t> of_first;  ///< what each of these counts
    std::uint64_t count = 0;
    std::uint64_t of = 0;  ///< runs in all
    WallTime last{0};
  };
  void add(Problem::Kind kind, const std::string& why, const ListStatus& list,
           std::uint64_t count = 0);
  void add_failures(const ListStatus& list);
  static std::string names_of(Problem::Kind kind, const Cause& cause);
  [[nodiscard]] Problem told(Problem::Kind kind, const std::string& why, const Cause& cause) const;

  const HostStatus host_;
  std::size_t waiting_ = 0;  ///< lists that would be served if Redis were there
  /// By kind and by what is wrong.
  std::map<std::pair<Problem::Kind, std::string>, Cause> causes_;
};

/// "redis", "quarantined", …
const char* kind_name(Problem::Kind kind);

/// A JSON object (w8y-api(7)).
std::string to_json(const Problem& problem);
/// Part of a problem in JSON that w8yctl prints.
struct ShownProblem {
  std::string kind;  ///< kind_name()
  std::string text;
};
std::vector<ShownProblem> read_problems(const view::JsonFields& json);

}  // namespace w8y
