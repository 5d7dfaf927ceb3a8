// Finds a run by its id, or by what that starts with: on this host, on others, in the history.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/api/routes.hpp"
#include "operator/history.hpp"
#include "view/run_record.hpp"
#include "view/run_view.hpp"

namespace w8y::app::api {

struct FoundRun {
  bool here = false;  ///< goes on at this host
  /// Goes on: with its host.
  std::optional<view::RunView> going_on;
  std::optional<view::RunRecord> finished;
  /// None of them: what to answer, and with which status.
  std::string why;
  unsigned status = 404;

  [[nodiscard]] std::string id() const;
};

struct SoughtRun {
  std::string start;     ///< of its id
  std::string list;      ///< that it is of; empty: any
  bool trusted = false;  ///< HttpReply::trusted() of the client
};

/// `then`: once, from the loop.
void find_run(const Routes& routes, const SoughtRun& run, std::function<void(FoundRun)> then);

}  // namespace w8y::app::api
