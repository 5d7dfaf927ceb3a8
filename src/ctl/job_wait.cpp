#include "ctl/job_wait.hpp"

#include <utility>

#include "core/escape.hpp"
#include "core/units.hpp"
#include "ctl/failure.hpp"

namespace w8y::ctl {

namespace {

constexpr Duration between_looks = std::chrono::seconds(1);

}  // namespace

JobWait::JobWait(redis::Subscriber& subscriber, loop::Loop& loop, store::JobFeed& feed,
                 std::string id)
    : redis::Subscriber::Listener(subscriber),
      subscriber_(subscriber),
      loop_(loop),
      feed_(feed),
      id_(std::move(id)) {}

void JobWait::listen() {
  subscription_ = subscriber_.subscribe(
      feed_.keys().finish_channel,
      [this](std::string_view, std::string_view message) {
        if (message.substr(0, message.find(store::part_separator)) != id_) return;
        result_ = message.substr(std::min(message.size(), id_.size() + 1));
      },
      [this] { listening_ = true; });
  while (!listening_ && trouble_.empty()) loop_.turn(true);
  if (!trouble_.empty()) throw Failure(not_reachable, trouble_);
}

std::string JobWait::result(std::optional<Duration> timeout) {
  bool too_late = false;
  bool due = false;
  Timer patience(loop_.timers());
  Timer next_poll(loop_.timers());
  if (timeout) patience.set(loop_.now() + *timeout, [&too_late] { too_late = true; });
  const auto arm = [&] { next_poll.set(loop_.now() + between_looks, [&due] { due = true; }); };
  arm();
  while (!result_ && !too_late) {
    loop_.turn(true);
    if (!std::exchange(due, false) || result_) continue;
    look();
    arm();
  }
  if (result_) return *result_;
  throw Failure(refused, escape_text(id_) + " is not finished after " + format_duration(*timeout));
}

/// What is gone at two looks has no result that could still be on its way to us.
void JobWait::look() {
  try {
    const auto where = feed_.find(id_);
    if (result_) return;
    if (where == store::JobFeed::Whereabouts::stalled)
      throw Failure(refused, escape_text(id_) + " is stalled (w8yctl job retry puts it back)");
    const bool gone = where == store::JobFeed::Whereabouts::gone;
    if (gone && was_gone_)
      throw Failure(refused, escape_text(id_) +
                                 " is gone, and no result was heard: it was finished without one, "
                                 "or retracted");
    was_gone_ = gone;
  } catch (const redis::RedisError& error) {
    if (error.code() != redis::ErrorCode::none && !redis::is_about_server(error.code())) throw;
  }
}

void JobWait::on_up() {
  if (std::exchange(in_trouble_, false)) complain("Redis available again");
}

void JobWait::on_down(const std::string& why) {
  if (!listening_) {
    trouble_ = why;
  } else if (!std::exchange(in_trouble_, true)) {
    complain("Redis is gone: " + escape(why) + "; waiting for it");
  }
}

void JobWait::on_refused(const std::string& channel, const std::string& why) {
  trouble_ = escape_text(channel) + ": " + escape(why);
}

}  // namespace w8y::ctl
