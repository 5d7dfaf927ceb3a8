#include "operator/channel_watch.hpp"

#include <utility>

#include "core/escape.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

ChannelWatch::ChannelWatch(const Connection& at, std::size_t limit, Complain complain)
    : detail::SubscriberOwner{redis::Subscriber(at.loop(), at.reach())},
      redis::Subscriber::Listener(subscriber),
      loop_(at.loop()),
      limit_(limit),
      complain_(std::move(complain)) {}

void ChannelWatch::add(const std::string& channel, Message then) {
  subscriptions_.push_back(subscriber.subscribe(
      channel, [this, then = std::move(then)](std::string_view, std::string_view payload) {
        if (counted_ == 0 || counted_ != limit_) then(payload);
      }));
}

void ChannelWatch::count(bool last) {
  if (++counted_ == limit_ || last) loop_.stop();
}

void ChannelWatch::run() {
  loop_.run();
  if (!failure_.empty()) throw QueryError(503, failure_);
}

void ChannelWatch::on_up() {
  if (in_outage_) complain_("Redis available again; events may have been missed");
  in_outage_ = false;
  reached_ = true;
}

void ChannelWatch::on_down(const std::string& why) {
  if (!reached_) {
    failure_ = why;
    loop_.stop();
  } else if (!in_outage_) {
    complain_("Redis unavailable, retrying: " + escape(why));
  }
  in_outage_ = true;
}

void ChannelWatch::on_refused(const std::string& channel, const std::string& why) {
  complain_(escape_text(channel) + ": " + escape(why));
}

}  // namespace w8y::verbs
