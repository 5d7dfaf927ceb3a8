#include "redis/server_client.hpp"

#include <algorithm>
#include <utility>

#include "redis/traffic.hpp"

namespace w8y::redis {

namespace {

std::size_t bytes_of(const Command& words) {
  std::size_t bytes = max_around_word;
  for (const std::string_view word : words) bytes += word.size() + max_around_word;
  return bytes;
}

}  // namespace

ServerClient::ServerClient(loop::Loop& loop, ClientOptions options)
    : loop_(loop),
      scripts_are_known_(options.scripts_are_known),
      link_(loop, std::move(options), *this),
      timeout_(loop.timers()),
      refusing_(loop, {[this](const std::string& why) {
                         listeners_.for_each([&](Client::Listener& listener) {
                           Client::notify_refusing(listener, why);
                         });
                       },
                       [this] {
                         listeners_.for_each([](Client::Listener& listener) {
                           Client::notify_accepting(listener);
                         });
                       }}),
      not_sent_(loop.timers()),
      leaving_(loop.timers()) {
  link_.start();
}

std::size_t ServerClient::unsent() const {
  const Connection* connection = link_.connection();
  return connection == nullptr ? 0 : connection->pending();
}

void ServerClient::call(const Command& command, Callback callback) {
  if (std::string* out = accept(callback, bytes_of(command))) {
    append_command(*out, command);
    traffic().count(command.empty() ? std::string_view() : command.front());
    accepted(std::move(callback));
  }
}

/// Returns the buffer for a command. nullptr if it cannot be sent; then the callback gets the
/// error.
std::string* ServerClient::accept(Callback& callback, std::size_t bytes) {
  const bool open = link_.state() == ReconnectingConnection::State::up ||
                    (link_.state() == ReconnectingConnection::State::connecting && link_.fresh());
  Connection* connection = link_.connection();
  if (bytes > Connection::max_output) {
    refuse(callback,
           "a command of " + std::to_string(bytes >> 20) + " MiB: the limit is " +
               std::to_string(Connection::max_output >> 20) + " MiB",
           Failure::too_large);
  } else if (!open || connection == nullptr) {
    refuse(callback, "");
  } else if (!connection->has_room()) {
    refuse(callback, "Redis does not read the commands sent to it");
  } else {
    return &connection->output();
  }
  return nullptr;
}

void ServerClient::refuse(Callback& callback, std::string why, Failure failure) {
  if (!callback) return;
  refused_.push_back({std::move(callback), std::move(why), failure});
  if (!not_sent_.pending()) not_sent_.set(loop_.now(), [this] { answer_not_sent(); });
}

void ServerClient::accepted(Callback callback, std::int64_t name) {
  ++commands_;
  calls_.push_back({std::move(callback), link_.connection()->end_of_output(), loop_.now(), name});
  if (!timeout_.pending()) watch_timeout();
}

void ServerClient::run(const Script& script, const Command& keys, const Command& args,
                       Callback callback) {
  traffic().count(script.name);
  const bool known = scripts_are_known_ || std::ranges::find(known_, &script) != known_.end();
  const std::int64_t name = ++last_name_;
  const std::string name_text = std::to_string(name);
  const std::size_t size = bytes_of(keys) + bytes_of(args) + bytes_of({name_text});
  std::string* out = accept(callback, size + script.text.size());
  if (out == nullptr) return;
  const std::size_t words = 4 + keys.size() + args.size();
  std::string rest;  // kept for a second attempt
  rest.reserve(size);
  append_word(rest, std::to_string(keys.size()));
  append_words(rest, keys);
  append_words(rest, args);
  append_word(rest, name_text);
  if (!known) {
    eval(script, rest, words, name, std::move(callback));
    return;
  }
  append_count(*out, words);
  append_word(*out, "EVALSHA");
  append_word(*out, script.sha1);
  *out += rest;
  accepted(
      [this, &script, rest = std::move(rest), words, name,
       callback = std::move(callback)](const Answer& answer) {
        if (answer.error() == ErrorCode::noscript) {
          eval(script, rest, words, name, callback);
        } else if (callback) {
          callback(answer);
        }
      },
      name);
}

void ServerClient::eval(const Script& script, const std::string& rest, std::size_t words,
                        std::int64_t name, Callback callback) {
  std::string* out = accept(callback, rest.size() + script.text.size());
  if (out == nullptr) return;
  append_count(*out, words);
  append_word(*out, "EVAL");
  append_word(*out, script.text);
  *out += rest;
  // The server compiles the script before it runs it, so later calls on this connection find it.
  if (std::ranges::find(known_, &script) == known_.end()) known_.push_back(&script);
  accepted(std::move(callback), name);
}

void ServerClient::on_link_up() {
  // The timeout of calls that waited for the first connection starts now.
  for (Call& call : calls_) call.since = loop_.now();
  reported_.clear();
  watch_timeout();
  listeners_.for_each([](Client::Listener& listener) { Client::notify_up(listener); });
}

void ServerClient::on_reply(const Reply& reply) {
  if (distrusted_) return;
  if (calls_.empty()) {
    link_.drop("unexpected reply: " + std::string(reply.text().substr(0, 200)));
    return;
  }
  // Errors raised by a script carry no name.
  const std::int64_t name = reply.is_error() ? 0 : calls_.front().name;
  if (name != 0 && !(reply.is_array() && reply[0].integer() == name)) return distrust();
  const Reply told = name != 0 ? reply[1] : reply;
  suspected_ = false;
  refusing_.record(told);
  if (told.is_error()) leave(told);
  traffic().replied.add(loop_.now() - calls_.front().since);
  const Callback callback = std::move(calls_.front().callback);
  calls_.pop_front();
  if (callback) callback(Answer{Failure::none, told, {}});
}

/// Reconnects if the server cannot execute commands now and a new connection may be better: the
/// name may lead to another server, or the password has changed. Replies already received are
/// delivered first.
void ServerClient::leave(const Reply& error) {
  const ErrorCode code = unfit(error.text());
  if (code == ErrorCode::none || leaving_.pending()) return;
  if (code != ErrorCode::noauth) link_.want_primary();
  leaving_.set(loop_.now(),
               [this, why = std::string(error.text().substr(0, 200))] { link_.drop(why); });
}

/// Discards the reply and all behind it: it was made for another call, and so may be the others.
void ServerClient::distrust() {
  distrusted_ = true;
  leaving_.set(loop_.now(), [this] { link_.drop("received the reply to another call"); });
}

void ServerClient::on_link_down(const Connection::End& end) {
  distrusted_ = false;
  timeout_.cancel();
  leaving_.cancel();
  suspected_ = false;
  refusing_.reset();
  known_.clear();
  const std::deque<Call> calls = std::exchange(calls_, {});
  for (const Call& call : calls) {
    // Redis executes a command when it has read all of it.
    const bool not_sent = end.untouched || call.end > end.sent;
    const bool too_large = end.too_large && &call == &calls.front();
    const Failure failure = not_sent    ? Failure::not_sent
                            : too_large ? Failure::reply_too_large
                                        : Failure::lost;
    if (call.callback) call.callback(Answer{failure, Reply(nullptr), end.why});
  }
  if (reported_ == end.why) return;
  reported_ = end.why;
  listeners_.for_each([&](Client::Listener& listener) { Client::notify_down(listener, end.why); });
}

void ServerClient::watch_timeout() {
  if (link_.state() != ReconnectingConnection::State::up || calls_.empty()) return;
  timeout_.set(calls_.front().since + link_.options().command_timeout, [this] { on_timeout(); });
}

void ServerClient::on_timeout() {
  if (calls_.empty()) return;  // the next call sets it again
  const Instant due = calls_.front().since + link_.options().command_timeout;
  if (loop_.now() < due) {
    suspected_ = false;
    watch_timeout();
  } else if (!suspected_) {
    // If this process was suspended, the reply has already arrived and only needs to be read.
    suspected_ = true;
    timeout_.set(loop_.now() + std::chrono::milliseconds(20), [this] { on_timeout(); });
  } else {
    using Milliseconds = std::chrono::milliseconds;
    const auto waited = std::chrono::duration_cast<Milliseconds>(link_.options().command_timeout);
    link_.drop("no reply within " + std::to_string(waited.count()) + " ms");
  }
}

void ServerClient::answer_not_sent() {
  const std::vector<NotSent> refused = std::exchange(refused_, {});
  for (const NotSent& call : refused)
    call.callback(Answer{call.failure, Reply(nullptr),
                         call.why.empty() ? std::string_view(link_.error()) : call.why});
}

}  // namespace w8y::redis
