#include "store/schedule/news_channels.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/number.hpp"
#include "core/schedule_settings.hpp"

namespace w8y::store {

ScheduleNewsChannels::ScheduleNewsChannels(RedisSession& session, Handler handler)
    : session_(session),
      handler_(std::move(handler)),
      queue_keys_(session.circular.look_batcher, [this] { add(ScheduleNews::queued); }),
      timeline_(*this),
      tell_(session.timers),
      alive_(std::make_shared<bool>(true)) {}

ScheduleNewsChannels::~ScheduleNewsChannels() {
  *alive_ = false;
}

void ScheduleNewsChannels::listen(About about, const ListConfig& rule) {
  const std::vector<std::string>& queues = rule.schedule().queues;
  if (about != about_ || rule.bare_key_prefix() != prefix_ || queues != queues_) {
    about_ = about;
    prefix_ = rule.bare_key_prefix();
    queues_ = queues;
    wake_.reset();
    queue_keys_.forget();
  }
  if (about_ == About::nothing) {
    news_.clear();
    return tell_.cancel();
  }
  if (wake_) return;
  // back() follows when the channel is confirmed too: messages before it may have been missed.
  wake_ = session_.subscriber.subscribe(
      ScheduleKeys(prefix_).wake,
      [this](std::string_view, std::string_view message) { heard(message); },
      [this] { handler_.back(); });
}

double ScheduleNewsChannels::track_queues() {
  const ScheduleKeys keys(prefix_);
  std::vector<std::string> names;
  for (const std::string& code : std::set<std::string>(queues_.begin(), queues_.end()))
    names.push_back(keys.queue(code));
  return queue_keys_.track(names);
}

double ScheduleNewsChannels::track_timeline(double due) {
  const std::string timeline = ScheduleKeys(prefix_).timeline;
  if (timeline_.is_tracked() || !session_.tracking.on(timeline)) return 0;
  Tracking::Peek peek;
  session_.tracking.add(peek, timeline_, timeline);
  session_.tracking.call(std::move(peek), {"ZRANGE", timeline, "0", "0", "WITHSCORES"},
                         [this, alive = alive_, due](const redis::Answer& answer) {
                           if (!*alive || !answer.ok()) return;
                           const auto first = read_real(answer.reply[1].text());
                           // A job is due when the second of its time has started.
                           if (first && std::ceil(*first) < due) add(ScheduleNews::changed);
                         });
  return 1;
}

/// Parses a message: "queued" and codes, each on a line of its own; or one word. Anything else is a
/// wake-up by a client.
void ScheduleNewsChannels::heard(std::string_view message) {
  const auto line = message.find('\n');
  const std::string_view news = message.substr(0, line);
  if (news == "timeline") return add(ScheduleNews::timeline);
  if (news == "free") return add(ScheduleNews::place);
  if (news == "control" || news == "paused" || news == "resumed") return add(ScheduleNews::orders);
  if (news == "queued" && line != std::string_view::npos && !is_ours(message.substr(line + 1)))
    return;
  add(ScheduleNews::queued);
}

void ScheduleNewsChannels::add(ScheduleNews news) {
  // This host may have made the change. Redis then ends tracking without a message.
  if (news == ScheduleNews::queued) untrack_queues();
  if (news == ScheduleNews::timeline) untrack_timeline();
  if (std::find(news_.begin(), news_.end(), news) != news_.end()) return;
  news_.push_back(news);
  if (!tell_.pending()) tell_.set(session_.clock.now(), [this] { tell(); });
}

void ScheduleNewsChannels::tell() {
  std::vector<ScheduleNews> news = std::exchange(news_, {});
  const auto has = [&news](ScheduleNews one) {
    return std::find(news.begin(), news.end(), one) != news.end();
  };
  // A job that is due before all others includes any other change of the timeline.
  if (has(ScheduleNews::timeline)) std::erase(news, ScheduleNews::changed);
  for (const ScheduleNews one : news) handler_.news(one);
}

bool ScheduleNewsChannels::is_ours(std::string_view codes) const {
  return std::any_of(queues_.begin(), queues_.end(), [&](const std::string& code) {
    if (code.find('\n') != std::string::npos) return true;  // such a code has several lines
    for (std::string_view rest = codes;;) {
      const auto end = rest.find('\n');
      if (rest.substr(0, end) == code) return true;
      if (end == std::string_view::npos) return false;
      rest.remove_prefix(end + 1);
    }
  });
}

}  // namespace w8y::store
