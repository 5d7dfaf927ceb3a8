// Finds a run by its ID, or by the start of its ID: on this host, on other hosts, in the history.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/routes.hpp"
#include "operator/run_matches.hpp"

namespace w8y::api {

struct SoughtRun {
  std::string start;                ///< ID, or the start of an ID
  std::optional<std::string> list;  ///< list of the run; nullopt: any
  bool trusted = false;             ///< http::HttpReply::trusted() of the client
};

/// Finds a run. Calls one of the two functions once, on the loop: `found` with the run and its ID,
/// or `refused` with the reason and an HTTP status.
void find_run(const Routes& routes, const SoughtRun& run,
              std::function<void(const verbs::FoundRun&, const std::string& id)> found,
              std::function<void(const verbs::QueryError&)> refused);

}  // namespace w8y::api
