#include "core/events.hpp"

#include <algorithm>

namespace w8y {

namespace {

struct EventName {
  const char* operator()(const RunStarted&) const { return "start"; }
  const char* operator()(const RunProgressed&) const { return "progress"; }
  const char* operator()(const RunUpdated&) const { return "update"; }
  const char* operator()(const RunEnded&) const { return "end"; }
  const char* operator()(const LeaseChanged&) const { return "lease"; }
  const char* operator()(const ListChanged&) const { return "list"; }
  const char* operator()(const ShortageChanged&) const { return "list"; }
  const char* operator()(const BreakerChanged&) const { return "list"; }
  const char* operator()(const HostReady&) const { return "host"; }
  const char* operator()(const HostChanged&) const { return "host"; }
  const char* operator()(const Reloaded&) const { return "reload"; }
  const char* operator()(const RedisChanged&) const { return "redis"; }
  template <typename Other>
  const char* operator()(const Other&) const {
    return nullptr;
  }
};

}  // namespace

bool EventFanOut::listens() const {
  return std::any_of(listeners_.begin(), listeners_.end(),
                     [](const EventHandler* listener) { return listener->listens(); });
}

const char* event_name(const Event& event) {
  return std::visit(EventName{}, event);
}

}  // namespace w8y
