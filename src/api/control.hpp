// Interface from the API to the supervisor: reads the state of the host and executes commands.
// Implemented by app.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/outcome.hpp"
#include "core/reload_plan.hpp"
#include "core/status.hpp"

namespace w8y::api {

/// Result of a command.
struct CommandResult {
  enum class Kind {
    done,
    accepted,     ///< started, and still in progress (drain)
    not_found,    ///< there is no such run or list
    refused,      ///< not possible in the current state
    invalid,      ///< the config to load has errors
    unavailable,  ///< Redis is unavailable
  };
  Kind kind = Kind::done;
  std::string text;                ///< one line: the effect, or the reason for the refusal
  std::vector<std::string> lines;  ///< config errors or changes, one per line
  RunId run;                       ///< run_item(): ID of the started run
};

/// Interface to one host. No function throws or blocks. An Answer is called exactly once, at once
/// or later. It may outlive the client, and even the server.
class Control {
 public:
  using Answer = std::function<void(const CommandResult&)>;

  virtual ~Control() = default;
  /// Queries the list state that only Redis holds, then calls `then`, at once or soon, even if the
  /// query fails. Unlike an Answer, `then` may be dropped when the Control is destroyed.
  virtual void refresh(std::function<void()> then) = 0;
  [[nodiscard]] virtual HostStatus status() const = 0;
  /// Returns which part of w8yd makes no progress although it should, as a text for the operator.
  /// Empty: all parts do. An outage of Redis does not count.
  [[nodiscard]] virtual std::string stuck() const = 0;
  /// Calls `look` for each list, by prefix, and then `then`: at once, or some lists per loop
  /// iteration. Both may be dropped when the Control is destroyed.
  virtual void each_list(std::function<void(const ListStatus&)> look,
                         std::function<void()> then) = 0;
  /// Counts the items of a list in Redis, all at one moment, then calls `then` with its statistics:
  /// nullopt if its kind has no such count or Redis does not reply. `then` as with refresh().
  virtual void count_items(const std::string& /*prefix*/,
                           std::function<void(const std::optional<ListStats>&)> then) {
    then(std::nullopt);
  }
  /// nullopt: there is no such list.
  [[nodiscard]] virtual std::optional<ListStatus> list(const std::string& prefix) const = 0;
  /// `list`: only this list, and no list if there is none of this name. nullptr: all lists.
  [[nodiscard]] virtual ConfigText config_text(const std::string* list) const = 0;
  [[nodiscard]] virtual SecretAnswer compare_secret(const SecretQuestion& question,
                                                    const std::string& salt) const = 0;
  /// Returns the resources that a process of this host has used so far.
  [[nodiscard]] virtual ResourceUse process_use(int /*pid*/) const { return {}; }
  /// Returns whether the config has a token, with which clients over TCP may send commands.
  [[nodiscard]] virtual bool has_token() const { return false; }

  virtual CommandResult quiet() = 0;
  virtual CommandResult resume() = 0;
  virtual CommandResult drain() = 0;
  virtual void reload(Answer answer) = 0;
  virtual CommandResult cancel(const RunId& run) = 0;
  /// Returns the end of the log output of a run of this host so far.
  [[nodiscard]] virtual std::string tail(const RunId& /*run*/) const { return {}; }
  /// Starts a run of an item at once. Claims the item unless it is running or quarantined.
  virtual void run_item(const std::string& prefix, const Item& item, Answer answer) = 0;
};

}  // namespace w8y::api
