// What happens on a host, as it happens: to the log, the metrics, the API's event stream.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <w8y/clock.hpp>
#include <w8y/item.hpp>
#include <w8y/message.hpp>
#include <w8y/outcome.hpp>
#include <w8y/status.hpp>

namespace w8y {

/// Which run an event belongs to.
struct RunRef {
  std::string prefix;
  RunId run;
  ShownItem item;
};

struct RunStarted {
  RunRef of;
  int pid = 0;
  unsigned attempt = 1;
  std::optional<std::uint64_t> fence;  ///< where the kind of work has one
};
struct RunProgressed {
  RunRef of;
  Progress progress;
};
struct RunUpdated {
  RunRef of;
  std::string data;  ///< JSON, as the executor gave it
};
struct RunEnded {
  RunRef of;
  Outcome outcome;
  Duration took{0};
};
struct LeaseChanged {
  RunRef of;
  bool held = false;  ///< false: lost; true: ours again
};
struct ListChanged {
  std::string prefix;
  ListState state = ListState::probing;
  std::string why;
};
struct HostChanged {
  HostState state = HostState::starting;
  std::string why;
};
struct Reloaded {
  bool applied = false;
  std::uint64_t generation = 0;
  std::string text;  ///< what changed, or what is wrong
};
struct RedisChanged {
  bool connected = false;
  std::string trouble;
};

using Event = std::variant<RunStarted, RunProgressed, RunUpdated, RunEnded, LeaseChanged,
                           ListChanged, HostChanged, Reloaded, RedisChanged>;

class EventHandler {
 public:
  virtual ~EventHandler() = default;
  virtual void on_event(const Event& event) = 0;
  /// False: on_event() does nothing with it, so what is frequent needn't be put together.
  [[nodiscard]] virtual bool listens() const { return true; }
};

/// "start", "progress", "update", "end", "lease", "list", "host", "reload", "redis": the `type` of
/// its JSON and the name of its server-sent event.
const char* event_name(const Event& event);

}  // namespace w8y
