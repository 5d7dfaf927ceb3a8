// A few questions to the first of several servers that has a good answer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "redis/connection.hpp"
#include "redis/reply_copy.hpp"

namespace w8y::redis {

/// One server after the other, each over a connection of its own and for its share of
/// connect_timeout. Nothing is told from inside its own functions; what it tells may begin it
/// again, and must not destroy it.
class DiscoveryQuery final : private Connection::Handler {
 public:
  using Questions = std::vector<std::vector<std::string>>;
  /// Looks at a server's answers, errors among them: empty if they are good, else what is wrong.
  using Judge =
      std::function<std::string(const HostPort& asked, const std::vector<ReplyCopy>& answers)>;
  /// Nothing comes after this. `problem`: of the server asked last; empty: there was a good answer.
  using Over = std::function<void(const std::string& problem)>;

  /// `options`: login and TLS of those who are asked.
  DiscoveryQuery(loop::Loop& loop, ClientOptions options, Questions questions, Judge judge,
                 Over over);

  /// At least one place. Cancels what was under way.
  void begin(std::vector<HostPort> places);
  void cancel();
  [[nodiscard]] bool under_way() const { return under_way_; }

 private:
  void ask_next();
  void on_ready() override {}
  void on_reply(const Reply& reply) override;
  void on_end(const Connection::End& end) override;
  void failed(const std::string& problem);
  void close();
  void end(const std::string& problem);

  loop::Loop& loop_;
  const ClientOptions options_;
  const Questions questions_;
  const Judge judge_;
  const Over over_;
  bool under_way_ = false;
  std::vector<HostPort> places_;
  std::size_t next_ = 0;  ///< of places_
  std::vector<ReplyCopy> answers_;
  std::unique_ptr<Connection> connection_;
  std::vector<std::unique_ptr<Connection>> dead_;  ///< they may be in their own callbacks
  Timer timer_;
  loop::Loop::BeforeWait sweep_;
};

}  // namespace w8y::redis
