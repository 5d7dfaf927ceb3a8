// Parser of server-sent events, for tests of the streams.
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Declares the namespaces of the using-directives below, because a test may include headers of only
// some of them.
namespace w8y::http {}
namespace w8y::api {}
namespace w8y::page {}

namespace w8y::ops::test {

using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;

struct ServerSentEvent {
  std::string name;
  std::string id;
  std::string data;
};

/// Returns the events that have data. Skips the HTTP lines before and between events; an HTTP line
/// inside an event breaks it.
inline std::vector<ServerSentEvent> events_in(std::string_view text) {
  std::vector<ServerSentEvent> events;
  ServerSentEvent event;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.starts_with("event: ")) event.name = line.substr(7);
    if (line.starts_with("id: ")) event.id = line.substr(4);
    if (line.starts_with("data: ")) event.data = line.substr(6);
    if (!line.empty()) continue;
    if (!event.data.empty()) events.push_back(event);
    event = {};
  }
  return events;
}

}  // namespace w8y::ops::test
