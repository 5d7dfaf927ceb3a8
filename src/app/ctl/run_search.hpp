// Finds runs by id, or by what an id starts with: on this host, on others, in the history.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "operator/circular_items.hpp"
#include "operator/history.hpp"
#include "view/run_view.hpp"

namespace w8y::app::ctl {

class Context;
class FleetAccess;

class RunSearch {
 public:
  struct Held {
    std::string list;
    view::ItemView item;
  };
  /// One of these is there.
  struct Found {
    std::optional<view::RunView> in_fleet;  ///< active on another host, by its reply
    std::optional<view::RunView> here;      ///< active on this host
    std::optional<Held> elsewhere;          ///< goes on at another host, as the item's lock says
    std::optional<view::RunRecord> finished;
  };

  /// `start`: all of an id or its start. `list`: a name or a pattern; nullopt: all that are known.
  RunSearch(Context& context, const std::string& start, std::optional<std::string> list);

  void look_here();
  /// Asks all hosts.
  void look_in_fleet(FleetAccess& fleet);
  /// Both throw without Redis.
  void look_elsewhere();
  void look_back();

  /// The only one, or the one that has exactly this id. Throws Failure if there are more.
  [[nodiscard]] const Found* only() const;
  /// Of the one that only() has returned.
  [[nodiscard]] const std::string& id() const;
  /// The one with exactly this id is found.
  [[nodiscard]] bool settled() const;

 private:
  [[nodiscard]] bool is_in(const std::string& prefix) const;

  Context& context_;
  std::string start_;
  std::optional<std::string> list_;
  std::map<std::string, Found> found_;  ///< by id
};

}  // namespace w8y::app::ctl
