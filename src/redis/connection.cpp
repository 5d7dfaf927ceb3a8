#include "redis/connection.hpp"

#include <algorithm>
#include <utility>

#include "redis/traffic.hpp"

namespace w8y::redis {

namespace {

/// Replaces spaces and control characters, which Redis refuses in the name of a client.
std::string client_name(std::string name) {
  for (char& c : name)
    if (c < '!' || c > '~') c = '_';
  return name;
}

}  // namespace

Connection::Connection(loop::Loop& loop, const ClientOptions& options, const Secret& password,
                       Wanted wanted, Handler& handler, ReplyHandler& replies)
    : loop_(loop),
      options_(options),
      where_(options.url.to_string()),
      handler_(handler),
      replies_(replies),
      reader_(options.max_reply),
      deadline_(loop.now() + options.connect_timeout),
      timer_(loop.timers()),
      flush_(loop, [this] { flush(); }) {
  append_handshake(password, wanted);
  // The transport has its own timeout. This one is a little later, so that the more precise reason
  // of the transport comes first.
  timer_.set(deadline_ + std::chrono::milliseconds(10), [this] {
    end({.why = transport_ ? "connected, but no reply in time"
                           : "the address of the server was not discovered in time"});
  });
}

Connection::~Connection() {
  if (secret_) wipe(out_);
}

void Connection::connect(const Url& place) {
  if (state_ == State::down || transport_) return;
  where_ = place.to_string();
  ClientOptions there = options_;
  there.url = place;
  there.connect_timeout = deadline_ - loop_.now();
  transport_ = make_transport(loop_, there, static_cast<Transport::Handler&>(*this));
  transport_->connect();
}

void Connection::append_handshake(const Secret& password, Wanted wanted) {
  const std::string& user = options_.url.user;
  // Reserves memory so that the buffer never moves and leaves no copy of the password.
  constexpr std::size_t all_the_rest = 512;
  secret_ = !password.empty();
  if (secret_)
    out_.reserve(password.view().size() + user.size() + options_.name.size() + all_the_rest);
  const std::string db = std::to_string(options_.url.db);
  const auto ask = [this](const Command& command) {
    append_command(out_, command);
    ++expected_;
  };
  if (!user.empty()) {
    ask({"AUTH", user, password.view()});
  } else if (!password.empty()) {
    ask({"AUTH", password.view()});
  }
  if (options_.url.db != 0) ask({"SELECT", db});
  role_ = wanted == Wanted::primary;
  if (role_) ask({"ROLE"});
  hold_ = expected_ > 0;
  ask({"PING"});
  const auto inform = [this](const Command& command) {
    append_command(out_, command);
    ++unwanted_;
  };
  if (!options_.name.empty()) inform({"CLIENT", "SETNAME", client_name(options_.name)});
  // Redis 7.2 and later show both in CLIENT LIST. Older servers and some ACLs refuse them.
  inform({"CLIENT", "SETINFO", "LIB-NAME", "w8y"});
  inform({"CLIENT", "SETINFO", "LIB-VER", W8Y_VERSION});
}

std::string& Connection::output() {
  return hold_ ? held_ : out_;
}

bool Connection::has_room() {
  if (pending() > max_output) clogged_ = true;
  return !clogged_;
}

void Connection::on_connected() {
  state_ = State::shaking;
}

Traffic& traffic() {
  thread_local Traffic of_thread;
  return of_thread;
}

void Connection::on_bytes(std::string_view bytes) {
  traffic().bytes_in += bytes.size();
  while (!bytes.empty() && state_ != State::down) {
    const std::string_view chunk = bytes.substr(0, Reader::max_feed);
    bytes.remove_prefix(chunk.size());
    reader_.feed(chunk);
    while (state_ != State::down) {
      const redisReply* reply = reader_.next();
      if (reply == nullptr) break;
      handle(Reply(reply));
    }
    if (!reader_.problem().empty())
      end({.why = "the reply cannot be read: " + reader_.problem(),
           .too_large = reader_.too_large()});
  }
}

void Connection::handle(const Reply& reply) {
  if (expected_ > 0) {
    handle_handshake(reply);
  } else if (unwanted_ > 0) {
    --unwanted_;
  } else {
    replies_.on_reply(reply);
  }
}

void Connection::handle_handshake(const Reply& reply) {
  --expected_;
  const bool ping = expected_ == 0;
  if (role_ && expected_ == 1) {
    // If the server refuses ROLE (ACL) or does not know it (a proxy), it counts as a primary.
    if (reply[0].text() == "slave")
      end({.why = "is a replica and accepts no writes", .untouched = true});
    return;
  }
  const ErrorCode code = reply.is_error() ? error_code(reply.text()) : ErrorCode::none;
  // A user without permission for PING is logged in nevertheless.
  const bool accepted = !reply.is_error() || (ping && code == ErrorCode::noperm);
  if (!accepted) {
    // If the server was loading or running a script, it may execute the commands after the
    // handshake.
    const bool passing = code == ErrorCode::loading || code == ErrorCode::busy;
    end({.why = std::string(reply.text()),
         .refused = !ping || code == ErrorCode::noauth,
         .untouched = !passing});
    return;
  }
  if (!ping) return;
  timer_.cancel();
  state_ = State::up;
  hold_ = false;
  out_ += held_;
  std::string().swap(held_);  // an assignment would keep its memory
  handler_.on_ready();
}

void Connection::on_room() {
  blocked_ = false;
  flush();
}

void Connection::flush() {
  if (state_ != State::shaking && state_ != State::up) return;
  constexpr std::size_t worth_freeing = 1U << 20;
  if (!blocked_ && out_at_ < out_.size()) {
    const std::size_t sent = transport_->write(std::string_view(out_).substr(out_at_));
    out_at_ += sent;
    sent_ += sent;
    traffic().bytes_out += sent;
    blocked_ = out_at_ < out_.size();
    if (!blocked_) {
      out_at_ = 0;
      if (std::exchange(secret_, false)) wipe(out_);
      if (out_.capacity() > worth_freeing) {
        std::string().swap(out_);
      } else {
        out_.clear();
      }
    } else if (out_at_ > std::max(worth_freeing, out_.size() / 2)) {
      out_.erase(0, out_at_);
      out_at_ = 0;
    }
  }
  if (clogged_)
    timer_.set(loop_.now(),
               [this] { end({.why = "the server does not read the commands sent to it"}); });
}

void Connection::on_broken(const std::string& why) {
  end({.why = why});
}

void Connection::drop(const std::string& why) {
  end({.why = why});
}

void Connection::end(End end) {
  if (state_ == State::down) return;
  state_ = State::down;
  timer_.cancel();
  if (transport_) transport_->close();
  end.why = where_ + ": " + end.why;
  end.sent = sent_;
  handler_.on_end(end);
}

}  // namespace w8y::redis
