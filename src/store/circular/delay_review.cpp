#include "store/circular/delay_review.hpp"

#include <algorithm>
#include <string>

#include "core/circular_settings.hpp"
#include "store/circular/keys.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

Duration longest_delay(const ListConfig& rule) {
  const Duration backoff = rule.backoff ? rule.backoff->max : Duration{0};
  return std::max(rule.circular().cooldown, backoff);
}

}  // namespace

DelayReview::DelayReview(redis::Client& client, TimerQueue& timers, const Clock& clock,
                         ServerClock& server, const Sweep& lists)
    : ServerClock::Listener(server),
      client_(client),
      clock_(clock),
      lists_(lists),
      timer_(timers),
      alive_(std::make_shared<bool>(true)) {}

DelayReview::~DelayReview() {
  *alive_ = false;
}

void DelayReview::on_clock_jump(const ServerClock::Jump& jump) {
  if (jump.by >= Duration{0}) return;
  timer_.cancel();
  // Lists still to review were not corrected for the previous jump.
  jump_ = rules_.empty() ? -jump.by : jump_ - jump.by;
  before_ = rules_.empty() ? jump.before : before_;
  rules_ = lists_.rules();
  pass_ = {};
  ++round_;
  step();
}

void DelayReview::step() {
  if (rules_.empty()) return;
  const ListConfig& rule = *rules_.front();
  const CircularKeys keys(rule);
  const ListPass::Part part = *pass_.next();
  const auto ms = [](Duration time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
  };
  const std::string first = std::to_string(part.first);
  const std::string count = std::to_string(part.count);
  const std::string fingerprints = std::to_string(part.fingerprints);
  const std::string jump = ms(jump_), longest = ms(longest_delay(rule));
  const std::string since = ms(clock_.now() - before_ + ServerClock::tolerance);
  client_.run(
      scripts::shorten, {keys.list},
      {first, count, list_part_bytes, fingerprints, keys.lock_prefix, jump, longest, since,
       keys.wake},
      [this, alive = alive_, sent = clock_.now(), round = round_](const redis::Answer& answer) {
        if (*alive && round == round_) stepped(answer, sent);
      });
}

void DelayReview::stepped(const redis::Answer& answer, Instant sent) {
  if (answer.ok() && answer.reply.size() == 5) {
    ListPass::Reply reply{
        answer.reply[0].integer(), answer.reply[1].integer(), answer.reply[2].integer() == 1, {}};
    for (std::size_t i = 0; i < answer.reply[3].size(); ++i)
      reply.fingerprints.emplace_back(answer.reply[3][i].text());
    pass_.take(reply);
    if (!pass_.next()) end_list();
  } else {
    // Redis is unavailable, or the user lacks a permission.
    end_list();
  }
  const Instant now = clock_.now();
  timer_.set(now + (now - sent), [this] { step(); });
}

void DelayReview::end_list() {
  if (!rules_.empty()) rules_.pop_front();
  pass_ = {};
}

}  // namespace w8y::store
