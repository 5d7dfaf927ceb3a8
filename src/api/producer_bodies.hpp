// Bodies of requests by which programs create work.
#pragma once

#include <string>
#include <vector>

#include "core/item.hpp"
#include "http/http.hpp"
#include "operator/job_feeds.hpp"
#include "operator/schedule_set.hpp"

namespace w8y::api {

/// Entries of a request. An invalid entry has an error instead of a value.
template <class Value>
struct Entries {
  std::vector<Value> valid;         ///< in the order of the request
  std::vector<std::string> errors;  ///< for each entry of the request; empty: the entry is valid
};

struct ItemsToAdd {
  Entries<Item> items;
  bool allow_duplicates = false;
  bool create = false;
  std::string by;  ///< operator; empty: a program, whose changes are not recorded
};
struct JobsToPut {
  Entries<verbs::NewJob> jobs;
  bool create = false;
  std::string by;  ///< as in ItemsToAdd
};
struct ScheduleBody {
  verbs::ScheduleToSet schedule;
  bool create = false;
};

/// Read the body of a request. All throw verbs::QueryError, 400, for an invalid body, and if no
/// entry is valid.
ItemsToAdd read_items_to_add(const std::string& body);
JobsToPut read_jobs_to_put(const std::string& body);
ScheduleBody read_schedule_to_set(const std::string& body);

/// Returns the result of a request: an object with a list or feed (`name`, `value`), the number of
/// added entries, and an array `entries` with an element for each entry. `results`: a digit for
/// each valid entry, '1' if it was added. `member`: name of the entry in its element.
std::string written_json(const char* name, const std::string& value, const char* entries,
                         const char* member, const std::vector<std::string>& valid,
                         const std::vector<std::string>& errors, const std::string& results);

}  // namespace w8y::api
