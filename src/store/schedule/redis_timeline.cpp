#include "store/schedule/redis_timeline.hpp"

#include <utility>

#include "store/circular/lock_store.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

RedisTimeline::RedisTimeline(std::shared_ptr<RedisSession> session, const Rule& rule,
                             TimelineHandler& handler)
    : TimelineSession{std::move(session)},
      redis::Client::Listener(session_->client),
      keys_(rule.prefix),
      key_prefix_(rule.key_prefix()),
      handler_(handler),
      alive_(std::make_shared<bool>(true)) {
  wake_ = session_->subscriber.subscribe(
      keys_.wake, [this](std::string_view, std::string_view message) { heard(message); },
      [this] { handler_.on_back(); });
}

RedisTimeline::~RedisTimeline() {
  *alive_ = false;
}

/// "timeline": an earlier job than all others is on it. "control": HALT, or its end. The rest is
/// for who takes jobs; an empty message is anybody's hint.
void RedisTimeline::heard(std::string_view message) {
  if (message == "timeline" || message == "control" || message.empty()) handler_.on_wake();
}

void RedisTimeline::hear_of_timeline() {
  const bool on = session_->keyspace_events.on(key_prefix_);
  if (on == static_cast<bool>(changes_)) return;
  changes_.reset();
  hears_ = false;
  if (!on) return;
  changes_ = session_->subscriber.subscribe(
      session_->keyspace_events.channel(keys_.timeline),
      [this](std::string_view, std::string_view event) {
        if (event == "zadd" || event == "zincr" || KeyspaceEvents::adds(event)) handler_.on_wake();
      },
      [this] {
        hears_ = true;
        handler_.on_wake();
      });
}

void RedisTimeline::run(const redis::Script& script, const redis::Command& keys,
                        const redis::Command& arguments, Good good) {
  session_->client.run(script, keys, arguments,
                       [this, alive = alive_, good = std::move(good)](const redis::Answer& answer) {
                         if (!*alive) return;
                         if (const auto error = trouble_of(answer))
                           return handler_.on_unavailable({error->why, error->about_keys()});
                         good(*answer.reply);
                       });
}

void RedisTimeline::dispatch() {
  hear_of_timeline();
  const DispatchWords words(keys_, {});
  run(scripts::schedule_dispatch, words.keys(), words.arguments(),
      [this](const redis::Reply& reply) {
        handler_.on_dispatched(read_dispatch(redis::ReplyCopy(reply)));
      });
}

void RedisTimeline::recover() {
  run(scripts::schedule_recover, {keys_.taken, keys_.statuses, keys_.slots},
      {keys_.work_prefix, keys_.wake, cursor_, looked_at_once}, [this](const redis::Reply& reply) {
        RecoverReply read;
        cursor_ = reply[0].text();
        read.more = cursor_ != "0";
        if (const auto ms = reply[1].integer(); ms >= 0)
          read.next_over = std::chrono::milliseconds(ms);
        read.put_back = static_cast<std::size_t>(reply[2].integer());
        handler_.on_recovered(read);
      });
}

}  // namespace w8y::store
