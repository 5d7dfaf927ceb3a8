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
  /// A connection that keys are watched over.
  struct Watch {
    HostPort node;
    unsigned ends = 0;
    Slot slot = 0;
  };

  Slot slot = 0;
  bool anywhere = false;              ///< it has no key
  const Script* script = nullptr;     ///< then the words are the keys and the arguments
  std::size_t keys = 0;               ///< of the script
  std::vector<Part> parts;            ///< one; or a transaction, which goes to one node as a whole
  std::optional<Watch> pinned;        ///< nowhere else will do
  std::optional<HostPort> asked_for;  ///< by ASK: this once, after ASKING
  int redirections = 0;
  Instant patience{};  ///< after it, nothing is tried again

  [[nodiscard]] bool transaction() const { return parts.size() > 1; }
  [[nodiscard]] std::string_view name() const {
    return script != nullptr ? std::string_view() : std::string_view(parts.front().words.front());
  }
};

}  // namespace w8y::redis
