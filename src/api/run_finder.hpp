// Finds a run by its id, or by what that starts with: on this host, on others, in the history.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/routes.hpp"
#include "operator/run_matches.hpp"

namespace w8y::api {

struct SoughtRun {
  std::string start;                ///< of its ID
  std::optional<std::string> list;  ///< that it is of; nullopt: any
  bool trusted = false;             ///< http::HttpReply::trusted() of the client
};

/// `found`: the run, and its ID. `refused`: why there is none, with a status of HTTP. One of them
/// is called once, from the loop.
void find_run(const Routes& routes, const SoughtRun& run,
              std::function<void(const verbs::FoundRun&, const std::string& id)> found,
              std::function<void(const verbs::Refusal&)> refused);

}  // namespace w8y::api
