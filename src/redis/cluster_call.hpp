// One call to a cluster, kept until its final reply, since the client may send it again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "redis/client.hpp"
#include "redis/hash_slots.hpp"

namespace w8y::redis {

struct ClusterCall {
  struct Part {
    std::vector<std::string> words;
    Client::Callback callback;
  };
  Slot slot = 0;
  bool anywhere = false;           ///< the call has no key
  const Script* script = nullptr;  ///< if set, the words are its keys and arguments
  std::size_t keys = 0;            ///< of the script
  std::vector<Part> parts;         ///< one, or several that go to one node, and are not sent again
  std::optional<HostPort> ask_target;  ///< named by ASK: once, after ASKING
  int redirections = 0;
  Instant timeout{};  ///< time after which the call is not sent again

  [[nodiscard]] bool transaction() const { return parts.size() > 1; }
};

}  // namespace w8y::redis
