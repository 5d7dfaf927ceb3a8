// Call of a script that owns its arguments.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "redis/command.hpp"
#include "redis/script.hpp"

namespace w8y::store {

struct ScriptCall {
  const redis::Script* script = nullptr;
  std::vector<std::string> keys;
  std::vector<std::string> arguments;

  /// Runs the script through a redis::Client, with a callback, or a redis::SyncClient.
  template <class Client, class... Callback>
  auto run(Client& client, Callback&&... callback) const {
    return client.run(*script, redis::Command(keys.begin(), keys.end()),
                      redis::Command(arguments.begin(), arguments.end()),
                      std::forward<Callback>(callback)...);
  }
  /// Returns this call with more arguments.
  [[nodiscard]] ScriptCall with(const std::vector<std::string>& more) const {
    ScriptCall call = *this;
    call.arguments.insert(call.arguments.end(), more.begin(), more.end());
    return call;
  }
};

}  // namespace w8y::store
