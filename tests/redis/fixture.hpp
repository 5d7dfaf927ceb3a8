// Helpers of the client tests: a server, a loop, and recorded replies.
#pragma once

#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "redis/client.hpp"
#include "redis/sync.hpp"
#include "support/client_options.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

namespace w8y::test {

using namespace std::chrono_literals;

/// Records the replies to calls as text: "OK", "(nil)", "not_sent: …", "lost: …".
struct Answers {
  std::vector<std::string> all;

  redis::Client::Callback callback() {
    return [this](const redis::Answer& answer) { all.push_back(text(answer)); };
  }
  static std::string text(const redis::Answer& answer) {
    if (answer.failure == redis::Failure::not_sent) return "not_sent: " + answer.problem();
    if (answer.failure == redis::Failure::lost) return "lost: " + answer.problem();
    if (answer.reply.is_integer()) return std::to_string(answer.reply.integer());
    return answer.reply.is_nil() ? "(nil)" : std::string(answer.reply.text());
  }
};

struct Ups : redis::Client::Listener {
  using Listener::Listener;
  int ups = 0;
  std::vector<std::string> downs;

 private:
  void on_up() override { ++ups; }
  void on_down(const std::string& why) override { downs.push_back(why); }
};

/// Waits for the reply to one call, and returns it.
inline std::string call(loop::Loop& loop, redis::Client& client, const redis::Command& command) {
  Answers answers;
  client.call(command, answers.callback());
  turn_until(loop, [&] { return !answers.all.empty(); });
  return answers.all.empty() ? "(unanswered)" : answers.all.front();
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace w8y::test
