#include "store/gearman/redis_records.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/number.hpp"
#include "store/rights.hpp"
#include "store/run_record.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

/// Limits of the run records that are kept during an outage. Above them, the oldest are dropped.
constexpr std::size_t most_kept_entries = 10'000;
constexpr std::size_t most_kept_bytes = std::size_t{16} << 20U;
/// Maximum number of run records in one call.
constexpr std::size_t entries_at_once = 256;
/// Time for which records wait for others. No job waits for them, and single calls would cost Redis
/// more than the job costs gearmand.
constexpr Duration gathering = std::chrono::milliseconds(2);
/// Maximum of unsent bytes up to which events of runs are published.
constexpr std::size_t most_unread_news = std::size_t{1} << 20U;

}  // namespace

RedisGearmanRecords::RedisGearmanRecords(std::shared_ptr<RedisSession> session,
                                         GearmanRecordsHandler& handler)
    : SessionUser{std::move(session)},
      redis::Client::Listener(session_->client),
      handler_(handler),
      pause_end_(session_->timers),
      send_(session_->timers),
      alive_(std::make_shared<bool>(true)) {}

RedisGearmanRecords::~RedisGearmanRecords() {
  *alive_ = false;
}

void RedisGearmanRecords::use(ListConfigPtr rule) {
  rule_ = std::move(rule);
  if (keys_) return;  // a list keeps its key prefix
  keys_.emplace(rule_->key_prefix());
  // The start and the end of a pause are published there.
  wake_ = session_->subscriber.subscribe(
      keys_->wake, [this](std::string_view, std::string_view) { ask_pause(); },
      [this] { ask_pause(); });
  ask_pause();
}

// ---- Pause

void RedisGearmanRecords::ask_pause() {
  const std::uint64_t number = ++asked_;
  struct Told {
    std::int64_t left = -2;
  };
  // Index of the last byte of a reason that is read.
  static constexpr const char* last_byte = "4095";
  const auto told = std::make_shared<Told>();
  session_->client.call({"PTTL", keys_->paused}, [told](const redis::Answer& answer) {
    if (answer.ok()) told->left = answer.reply.integer();
  });
  session_->client.call(
      {"GETRANGE", keys_->paused, "0", last_byte},
      [this, alive = alive_, told, number](const redis::Answer& answer) {
        if (!*alive || number != asked_) return;
        // During an outage, the last known pause is valid until its end.
        if (!answer.ok())
          return know_pause(pause_until_ <= session_->clock.now() ? std::nullopt : pause_);
        pause_end_.cancel();
        pause_until_ = Instant::max();
        if (const auto left = read_ms(told->left, {1, ms_range.max})) {
          pause_until_ = session_->clock.now() + *left + std::chrono::milliseconds(1);
          pause_end_.set(pause_until_, [this] { ask_pause(); });
        }
        know_pause(told->left == -2 ? std::nullopt
                                    : std::optional(std::string(answer.reply.text())));
      });
}

void RedisGearmanRecords::know_pause(std::optional<std::string> pause) {
  const bool news = !std::exchange(ready_, true) || pause.has_value() != pause_.has_value();
  pause_ = std::move(pause);
  if (news) handler_.on_pause();
}

// ---- History and events

void RedisGearmanRecords::announce(const RunEvent& event) {
  if (!rule_->keeps_records || !session_->client.connected()) return;
  if (session_->client.unsent() + news_bytes_ > most_unread_news) return;
  news_.push_back(event_json(*rule_, session_->holder.host, event, session_->clock.wall()));
  news_bytes_ += news_.back().size();
  send_soon();
}

void RedisGearmanRecords::tell() {
  news_bytes_ = 0;
  for (const std::string& event : std::exchange(news_, {}))
    session_->client.call({"PUBLISH", keys_->events, event});
}

void RedisGearmanRecords::send_soon() {
  if (!send_.pending()) send_.set(session_->clock.now() + gathering, [this] { send(); });
}

void RedisGearmanRecords::enter(EndedRun&& run) {
  Entry entry;
  entry.run = run.claim.run;
  entry.history = history_of(*run.rule, std::holds_alternative<Succeeded>(run.outcome));
  entry.event = end_json(session_->holder.host, run);
  if (entry.history.runs > 0) entry.more = history_members(run);
  bytes_ += entry.size();
  entries_.push_back(std::move(entry));
  while (entries_.size() > sent_ + 1 &&
         (entries_.size() > most_kept_entries || bytes_ > most_kept_bytes)) {
    const auto oldest = entries_.begin() + static_cast<std::ptrdiff_t>(sent_);
    bytes_ -= oldest->size();
    entries_.erase(oldest);
  }
  send_soon();
}

std::size_t RedisGearmanRecords::pending() const {
  return session_->client.connected() ? entries_.size() : 0;
}

void RedisGearmanRecords::send() {
  if (session_->client.connected()) tell();
  if (sent_ > 0 || entries_.empty() || !session_->client.connected()) return;
  sent_ = std::min(entries_at_once, entries_.size());
  redis::Command arguments{keys_->events, std::exchange(again_, false) ? "1" : "0"};
  arguments.reserve(arguments.size() + sent_ * 4);
  std::vector<std::string> limits;
  limits.reserve(sent_);
  for (std::size_t i = 0; i < sent_; ++i)
    arguments.insert(arguments.end(), {entries_[i].run, entries_[i].event, entries_[i].more,
                                       limits.emplace_back(to_text(entries_[i].history))});
  session_->client.run(scripts::gearman_record, {keys_->runs}, arguments,
                       [this, alive = alive_](const redis::Answer& answer) {
                         if (*alive) written(answer);
                       });
}

void RedisGearmanRecords::written(const redis::Answer& answer) {
  const std::size_t count = std::exchange(sent_, 0);
  if (answer.failure == redis::Failure::not_sent || answer.failure == redis::Failure::lost) {
    again_ = true;
    return;
  }
  // Records that Redis refuses are not retried: no job depends on them.
  const std::string_view refused = answer.ok() ? answer.reply.text() : "";
  note_refused(!answer.ok()      ? with_remedy(answer.problem(), session_->user)
               : refused.empty() ? std::string()
                                 : missing_right(refused));
  for (std::size_t i = 0; i < count; ++i) {
    bytes_ -= entries_.front().size();
    entries_.pop_front();
  }
  if (!entries_.empty()) return send();
  handler_.on_recorded();
}

void RedisGearmanRecords::note_refused(const std::string& why) {
  if (why == refused_) return;
  refused_ = why;
  handler_.on_record_refused(why);
}

void RedisGearmanRecords::on_up() {
  if (keys_) ask_pause();
  send();
}

void RedisGearmanRecords::on_down(const std::string&) {
  news_.clear();
  news_bytes_ = 0;
  if (keys_ && !ready_) know_pause(pause_);
  // Without a connection, pending() is 0.
  if (!entries_.empty()) handler_.on_recorded();
}

}  // namespace w8y::store
