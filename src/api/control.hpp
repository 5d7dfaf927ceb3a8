// The port from the API to the supervisor: what an operator can see and do. Implemented by app.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/reload_plan.hpp"
#include "core/status.hpp"

namespace w8y::api {

/// What came of an order.
struct CommandResult {
  enum class Kind {
    done,
    accepted,     ///< begun; it takes its time (drain)
    not_found,    ///< no such run or list
    refused,      ///< not in this state
    invalid,      ///< the config that was to be loaded has mistakes
    unavailable,  ///< Redis can't be asked now
  };
  Kind kind = Kind::done;
  std::string text;                ///< one line: what was done, or why not
  std::vector<std::string> lines;  ///< each mistake, each change
  RunId run;                       ///< run_item(): the run that began
};

/// Nothing here throws or blocks. An Answer is called exactly once, at once or later; it may
/// outlive the client that asked, and even the server.
class Control {
 public:
  using Answer = std::function<void(const CommandResult&)>;

  virtual ~Control() = default;
  /// Asks Redis for what only it knows of the lists, and calls `then`, at once or soon, whatever
  /// came of it. Unlike an Answer, `then` may be dropped with the Control.
  virtual void refresh(std::function<void()> then) = 0;
  [[nodiscard]] virtual HostStatus status() const = 0;
  /// What makes no progress though it should, for a person; empty: all does. A Redis that is away
  /// is no such thing.
  [[nodiscard]] virtual std::string stuck() const = 0;
  /// Calls `look` for each of its lists, by prefix, and then `then`: at once, or some in a turn of
  /// the loop. Both may be dropped with the Control.
  virtual void each_list(std::function<void(const ListStatus&)> look,
                         std::function<void()> then) = 0;
  /// nullopt: there is no such list.
  [[nodiscard]] virtual std::optional<ListStatus> list(const std::string& prefix) const = 0;
  /// `list`: of the lists only this one, and none if there is no such.
  [[nodiscard]] virtual ConfigText config_text(const std::string* list) const = 0;
  [[nodiscard]] virtual SecretAnswer compare_secret(const SecretQuestion& question,
                                                    const std::string& salt) const = 0;

  virtual CommandResult quiet() = 0;
  virtual CommandResult resume() = 0;
  virtual CommandResult drain() = 0;
  virtual void reload(Answer answer) = 0;
  virtual CommandResult cancel(const RunId& run) = 0;
  /// The end of what a run of this host has written to standard error so far.
  [[nodiscard]] virtual std::string tail(const RunId& /*run*/) const { return {}; }
  /// Runs an item of a list now: claims it unless it runs or is quarantined.
  virtual void run_item(const std::string& prefix, const Item& item, Answer answer) = 0;
};

}  // namespace w8y::api
