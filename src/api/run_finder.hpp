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
  http::HttpReplyPtr reply;         ///< of the request; refusals are sent to it
};

/// Finds a run. Calls `found` once, on the loop, with the run and its ID; otherwise sends the
/// reason to the reply. Throws verbs::QueryError for an invalid start of an ID.
void find_run(const Routes& routes, const SoughtRun& run,
              std::function<void(const verbs::FoundRun&, const std::string& id)> found);

}  // namespace w8y::api
