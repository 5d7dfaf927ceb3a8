#include "redis/sync.hpp"

#include "loop/loop.hpp"

namespace w8y::redis {

namespace {

constexpr Duration reconnect_timeout = std::chrono::seconds(5);

std::vector<ReplyCopy> all_checked(std::vector<ReplyCopy>&& replies) {
  for (const ReplyCopy& reply : replies) checked(reply);
  return std::move(replies);
}

ReplyCopy only(std::vector<ReplyCopy>&& replies) {
  return checked(std::move(replies.front()));
}

}  // namespace

const ReplyCopy& checked(const ReplyCopy& reply) {
  if (reply.is_error()) throw RedisError(reply.text, error_code(reply.text));
  return reply;
}

ReplyCopy checked(ReplyCopy&& reply) {
  checked(std::as_const(reply));
  return std::move(reply);
}

/// Replies received so far. The callbacks share them, so an early throw leaves no dangling
/// reference.
struct SyncClient::Gathered {
  std::vector<ReplyCopy> values;
  std::string failure;
  std::size_t missing = 0;
};

SyncClient::SyncClient(loop::Loop& loop, ClientOptions options)
    : loop_(loop), client_(Client::open(loop, std::move(options))), end_(loop.timers()) {}

void SyncClient::give_up_at(std::optional<Instant> end) {
  end_.cancel();
  if (end) end_.set(*end, [this] { give_up("no reply in time"); });
}

Client::Callback SyncClient::gather(const std::shared_ptr<Gathered>& into) {
  ++into->missing;
  into->values.emplace_back();
  return [into, place = into->values.size() - 1](const Answer& answer) {
    --into->missing;
    if (answer.failure != Failure::none) {
      into->failure = answer.problem();
    } else {
      into->values[place] = ReplyCopy(answer.reply);  // nodes of a cluster reply in any order
    }
  };
}

std::vector<ReplyCopy> SyncClient::wait_for(Gathered& gathered) {
  wait_until([&gathered] { return gathered.missing == 0; });
  if (!gathered.failure.empty()) throw RedisError(gathered.failure);
  return std::move(gathered.values);
}

void SyncClient::wait_until(const std::function<bool()>& done) {
  while (!done() && given_up_.empty()) loop_.iterate(true);
  if (!given_up_.empty()) throw RedisError(given_up_);
}

ReplyCopy SyncClient::call(const Command& command) {
  const auto gathered = std::make_shared<Gathered>();
  client_->call(command, gather(gathered));
  return only(wait_for(*gathered));
}

ReplyCopy SyncClient::run(const Script& script, const Command& keys, const Command& args) {
  const auto gathered = std::make_shared<Gathered>();
  client_->run(script, keys, args, gather(gathered));
  return only(wait_for(*gathered));
}

std::vector<ReplyCopy> SyncClient::run_all(const Script& script,
                                           const std::vector<ScriptCall>& calls) {
  const auto gathered = std::make_shared<Gathered>();
  for (const ScriptCall& each : calls) client_->run(script, each.keys, each.args, gather(gathered));
  return all_checked(wait_for(*gathered));
}

std::vector<ReplyCopy> SyncClient::pipeline(const std::vector<Command>& commands) {
  const auto gathered = std::make_shared<Gathered>();
  for (const Command& command : commands) client_->call(command, gather(gathered));
  return wait_for(*gathered);
}

std::vector<ReplyCopy> SyncClient::call_all(const std::vector<Command>& commands) {
  return all_checked(pipeline(commands));
}

bool SyncClient::reconnect() {
  bool too_late = false;
  Timer timeout(loop_.timers());
  timeout.set(loop_.now() + reconnect_timeout, [&too_late] { too_late = true; });
  if (!client_->connected()) client_->reconnect_now();
  while (!client_->connected() && !too_late && given_up_.empty()) loop_.iterate(true);
  return client_->connected();
}

}  // namespace w8y::redis
