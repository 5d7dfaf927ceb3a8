#include "redis/client.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include <w8y/timers.hpp>

#include "redis/link.hpp"
#include "redis/listeners.hpp"
#include "redis/refusals.hpp"

namespace w8y::redis {

class Client::Impl final : private Link::Handler {
 public:
  Impl(loop::Loop& loop, ClientOptions options)
      : loop_(loop),
        link_(loop, std::move(options), *this),
        timeout_(loop.timers()),
        refusing_(loop, {[this](const std::string& why) { refusing(why); },
                         [this] { listeners_.tell([](Listener& each) { each.on_accepting(); }); }}),
        not_sent_(loop.timers()) {
    link_.start();
  }

  void call(const Command& command, Callback callback) {
    if (std::string* out = accept(callback)) {
      append_command(*out, command);
      accepted(std::move(callback));
    }
  }
  void run(const Script& script, const Command& keys, const Command& args, Callback callback);

  [[nodiscard]] const Link& link() const { return link_; }
  [[nodiscard]] std::uint64_t commands_sent() const { return commands_; }
  [[nodiscard]] std::size_t unsent() {
    const Connection* connection = link_.connection();
    return connection == nullptr ? 0 : connection->pending();
  }
  void reconnect_now() { link_.reconnect_now(); }

  Listeners<Listener>& listeners() { return listeners_; }

 private:
  struct Call {
    Callback callback;
    std::uint64_t end;  // its place in the connection's output
    Instant since;
  };
  /// To be answered not_sent.
  struct NotSent {
    Callback callback;
    std::string why;  // empty: whatever the trouble is when it is answered
  };

  std::string* accept(Callback& callback);
  void accepted(Callback callback);
  void eval(const Script& script, const std::string& rest, std::size_t words, Callback callback);
  void on_link_up() override;
  void on_link_reply(const Reply& reply) override;
  void on_link_down(const Connection::End& end) override;
  void refusing(const std::string& why);
  void watch_timeout();
  void on_timeout();
  void answer_not_sent();

  loop::Loop& loop_;
  Link link_;
  std::deque<Call> calls_;  // unanswered, oldest first
  Timer timeout_;
  bool suspected_ = false;  // the oldest call is late
  std::vector<NotSent> refused_;
  Refusals refusing_;
  Timer not_sent_;
  std::vector<const Script*> known_;  // the scripts that this connection has been sent
  std::uint64_t commands_ = 0;
  std::string told_;  // why it is down, as the listeners know it
  Listeners<Listener> listeners_;
};

/// Where to append a command; null if it can't be sent, which its callback will be told.
std::string* Client::Impl::accept(Callback& callback) {
  const bool open = link_.state() == Link::State::up ||
                    (link_.state() == Link::State::connecting && link_.fresh());
  Connection* connection = link_.connection();
  const bool clogged = open && connection != nullptr && !connection->has_room();
  if (open && connection != nullptr && !clogged) return &connection->output();
  if (callback) {
    refused_.push_back({std::move(callback), clogged ? "Redis doesn't read what it is sent" : ""});
    if (!not_sent_.pending()) not_sent_.set(loop_.now(), [this] { answer_not_sent(); });
  }
  return nullptr;
}

void Client::Impl::accepted(Callback callback) {
  ++commands_;
  calls_.push_back({std::move(callback), link_.connection()->end_of_output(), loop_.now()});
  if (!timeout_.pending()) watch_timeout();
}

void Client::Impl::run(const Script& script, const Command& keys, const Command& args,
                       Callback callback) {
  if (link_.connection() == nullptr) {
    accept(callback);
    return;
  }
  const std::size_t words = 3 + keys.size() + args.size();
  std::string rest;  // kept for a second try
  append_word(rest, std::to_string(keys.size()));
  for (const std::string_view key : keys) append_word(rest, key);
  for (const std::string_view arg : args) append_word(rest, arg);
  if (std::ranges::find(known_, &script) == known_.end()) {
    eval(script, rest, words, std::move(callback));
    return;
  }
  std::string* out = accept(callback);
  if (out == nullptr) return;
  append_count(*out, words);
  append_word(*out, "EVALSHA");
  append_word(*out, script.sha1);
  *out += rest;
  accepted([this, &script, rest = std::move(rest), words,
            callback = std::move(callback)](const Answer& answer) {
    if (answer.error() == ErrorCode::noscript) {
      eval(script, rest, words, callback);
    } else if (callback) {
      callback(answer);
    }
  });
}

void Client::Impl::eval(const Script& script, const std::string& rest, std::size_t words,
                        Callback callback) {
  std::string* out = accept(callback);
  if (out == nullptr) return;
  append_count(*out, words);
  append_word(*out, "EVAL");
  append_word(*out, script.text);
  *out += rest;
  // The server compiles it before it runs it, so what follows on this connection finds it.
  if (std::ranges::find(known_, &script) == known_.end()) known_.push_back(&script);
  accepted(std::move(callback));
}

void Client::Impl::on_link_up() {
  // What waited for the first connect is counted from now.
  for (Call& call : calls_) call.since = loop_.now();
  told_.clear();
  watch_timeout();
  listeners_.tell([](Listener& listener) { listener.on_up(); });
}

void Client::Impl::on_link_reply(const Reply& reply) {
  if (calls_.empty()) {
    link_.drop("an answer that nobody asked for: " + std::string(reply.text().substr(0, 200)));
    return;
  }
  suspected_ = false;
  refusing_.note(reply);
  const Callback callback = std::move(calls_.front().callback);
  calls_.pop_front();
  if (callback) callback(Answer{Failure::none, reply, {}});
}

void Client::Impl::on_link_down(const Connection::End& end) {
  timeout_.cancel();
  suspected_ = false;
  refusing_.reset();
  known_.clear();
  const std::deque<Call> calls = std::exchange(calls_, {});
  for (const Call& call : calls) {
    // Redis carries out a command when it has read all of it.
    const bool not_sent = end.untouched || call.end > end.sent;
    if (call.callback)
      call.callback(Answer{not_sent ? Failure::not_sent : Failure::lost, Reply(nullptr), end.why});
  }
  if (told_ == end.why) return;
  told_ = end.why;
  listeners_.tell([&](Listener& listener) { listener.on_down(end.why); });
}

void Client::Impl::refusing(const std::string& why) {
  listeners_.tell([&](Listener& listener) { listener.on_refusing(why); });
}

void Client::Impl::watch_timeout() {
  if (link_.state() != Link::State::up || calls_.empty()) return;
  timeout_.set(calls_.front().since + link_.options().command_timeout, [this] { on_timeout(); });
}

void Client::Impl::on_timeout() {
  if (calls_.empty()) return;  // the next call sets it again
  const Instant due = calls_.front().since + link_.options().command_timeout;
  if (loop_.now() < due) {
    suspected_ = false;
    watch_timeout();
  } else if (!suspected_) {
    // If it was us who slept, the answer is there and needs only to be read.
    suspected_ = true;
    timeout_.set(loop_.now() + std::chrono::milliseconds(20), [this] { on_timeout(); });
  } else {
    using Milliseconds = std::chrono::milliseconds;
    const auto waited = std::chrono::duration_cast<Milliseconds>(link_.options().command_timeout);
    link_.drop("no answer within " + std::to_string(waited.count()) + " ms");
  }
}

void Client::Impl::answer_not_sent() {
  const std::vector<NotSent> refused = std::exchange(refused_, {});
  for (const NotSent& call : refused)
    call.callback(Answer{Failure::not_sent, Reply(nullptr),
                         call.why.empty() ? std::string_view(link_.trouble()) : call.why});
}

Client::Client(loop::Loop& loop, ClientOptions options)
    : impl_(std::make_unique<Impl>(loop, std::move(options))) {}

Client::~Client() = default;

void Client::call(const Command& command, Callback callback) {
  impl_->call(command, std::move(callback));
}

void Client::call(const Command& command) {
  impl_->call(command, {});
}

void Client::run(const Script& script, const Command& keys, const Command& args,
                 Callback callback) {
  impl_->run(script, keys, args, std::move(callback));
}

bool Client::connected() const {
  return impl_->link().state() == Link::State::up;
}

const std::string& Client::trouble() const {
  return impl_->link().trouble();
}

std::size_t Client::unsent() const {
  return impl_->unsent();
}
std::uint64_t Client::commands_sent() const {
  return impl_->commands_sent();
}

void Client::reconnect_now() {
  impl_->reconnect_now();
}

Client::Listener::Listener(Client& client)
    : client_(client), place_(client.impl_->listeners().add(this)) {}

Client::Listener::~Listener() {
  client_.impl_->listeners().remove(place_);
}

}  // namespace w8y::redis
