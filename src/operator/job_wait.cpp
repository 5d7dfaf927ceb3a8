#include "operator/job_wait.hpp"

#include <utility>

#include "core/escape.hpp"
#include "core/units.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

namespace {

constexpr Duration check_interval = std::chrono::seconds(1);

}  // namespace

JobWait::JobWait(const Connection& at, JobFeed& feed, std::string id, Complain complain)
    : detail::SubscriberOwner{redis::Subscriber(at.loop(), at.reach())},
      redis::Subscriber::Listener(subscriber),
      loop_(at.loop()),
      feed_(feed),
      id_(std::move(id)),
      complain_(std::move(complain)) {}

void JobWait::subscribe() {
  subscription_ = subscriber.subscribe(
      feed_.keys().finish_channel,
      [this](std::string_view, std::string_view message) {
        if (message.substr(0, message.find(store::part_separator)) != id_) return;
        result_ = message.substr(std::min(message.size(), id_.size() + 1));
      },
      [this] { subscribed_ = true; });
  while (!subscribed_ && failure_.empty()) loop_.iterate(true);
  if (!failure_.empty()) throw QueryError(503, failure_);
}

std::string JobWait::result(std::optional<Duration> timeout) {
  bool too_late = false;
  bool due = false;
  Timer end(loop_.timers());
  Timer next_check(loop_.timers());
  if (timeout) end.set(loop_.now() + *timeout, [&too_late] { too_late = true; });
  const auto arm = [&] { next_check.set(loop_.now() + check_interval, [&due] { due = true; }); };
  arm();
  while (!result_ && !too_late) {
    loop_.iterate(true);
    if (!std::exchange(due, false) || result_) continue;
    check();
    arm();
  }
  if (result_) return *result_;
  throw QueryError(409, escape_text(id_) + " is not finished after " + format_duration(*timeout));
}

/// Checks the state of the job. If it does not exist at two checks, no result can arrive any more.
void JobWait::check() {
  try {
    const auto where = feed_.find(id_);
    if (result_) return;
    if (where == JobFeed::Whereabouts::stalled)
      throw QueryError(409,
                       escape_text(id_) + " is stalled (w8yctl job retry returns it to the queue)");
    const bool gone = where == JobFeed::Whereabouts::gone;
    if (gone && was_gone_)
      throw QueryError(409,
                       escape_text(id_) +
                           " is gone, and no result was received: it was finished without one, "
                           "or retracted");
    was_gone_ = gone;
  } catch (const RedisError& error) {
    if (!is_unreachable(error) && !redis::is_about_server(error.code())) throw;
  }
}

void JobWait::on_up() {
  if (std::exchange(in_outage_, false)) complain_("Redis available again");
}

void JobWait::on_down(const std::string& why) {
  if (!subscribed_) {
    failure_ = why;
  } else if (!std::exchange(in_outage_, true)) {
    complain_("Redis is gone: " + escape(why) + "; waiting for it");
  }
}

void JobWait::on_refused(const std::string& channel, const std::string& why) {
  failure_ = escape_text(channel) + ": " + escape(why);
}

}  // namespace w8y::verbs
