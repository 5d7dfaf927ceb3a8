// One call to a cluster, kept until it is answered for good: it may have to be sent again.
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
  bool anywhere = false;              ///< it has no key
  const Script* script = nullptr;     ///< then the words are the keys and the arguments
  std::size_t keys = 0;               ///< of the script
  std::vector<Part> parts;            ///< one; or a transaction, which goes to one node as a whole
  std::optional<HostPort> asked_for;  ///< by ASK: this once, after ASKING
  int redirections = 0;
  Instant timeout{};  ///< after it, nothing is tried again

  [[nodiscard]] bool transaction() const { return parts.size() > 1; }
};

}  // namespace w8y::redis
