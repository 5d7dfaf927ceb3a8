#include "store/schedule/news_channels.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/schedule_settings.hpp"

namespace w8y::store {

ScheduleNewsChannels::ScheduleNewsChannels(RedisSession& session, Handler handler)
    : session_(session), handler_(std::move(handler)), tell_(session.timers) {}

ScheduleNewsChannels::~ScheduleNewsChannels() = default;

void ScheduleNewsChannels::listen(About about, const ListConfig& rule) {
  const std::vector<std::string>& queues = rule.schedule().queues;
  if (about != about_ || rule.bare_key_prefix() != prefix_ || queues != queues_) {
    about_ = about;
    prefix_ = rule.bare_key_prefix();
    queues_ = queues;
    wake_.reset();
    confirmed_ = false;
    changes_.clear();
    changes_confirmed_ = 0;
  }
  if (about_ == About::nothing) {
    news_.clear();
    return tell_.cancel();
  }
  hear_changes();
  if (wake_) return;
  // back() follows when the channel is confirmed too: messages before it may have been missed.
  wake_ = session_.subscriber.subscribe(
      ScheduleKeys(prefix_).wake,
      [this](std::string_view, std::string_view message) { heard(message); },
      [this] {
        confirmed_ = true;
        handler_.back();
      });
}

bool ScheduleNewsChannels::hears_changes() const {
  return !changes_.empty() && changes_confirmed_ >= changes_.size() &&
         session_.subscriber.connected();
}

/// Subscribes to keyspace notifications. The scripts of w8y cause a notification in addition to
/// their message; both are reported once.
void ScheduleNewsChannels::hear_changes() {
  const ScheduleKeys keys(prefix_);
  const bool on = session_.keyspace_events.on(prefix_.empty() ? std::string() : prefix_ + ":");
  if (on == !changes_.empty()) return;
  changes_.clear();
  changes_confirmed_ = 0;
  if (!on) return;
  const auto hear = [this](const std::string& key, ScheduleNews news,
                           bool (*adds)(std::string_view)) {
    changes_.push_back(session_.subscriber.subscribe(
        session_.keyspace_events.channel(key),
        [this, news, adds](std::string_view, std::string_view event) {
          if (adds(event)) add(news);
        },
        [this, news] {
          ++changes_confirmed_;
          if (confirmed_) add(news);
        }));
  };
  if (about_ == About::timeline)
    return hear(keys.timeline, ScheduleNews::changed, KeyspaceEvents::adds_scored);
  for (const std::string& code : std::set<std::string>(queues_.begin(), queues_.end()))
    hear(keys.queue(code), ScheduleNews::queued, KeyspaceEvents::adds);
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
