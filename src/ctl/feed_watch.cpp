// Prints events of a feed, from the channels of the contract.
#include <iostream>

#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/failure.hpp"
#include "ctl/feed_common.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/feed_events.hpp"

namespace w8y::ctl {

namespace {

void show(const verbs::FeedEvent& event, const std::string& feed, bool json) {
  if (!json) {
    std::cout << time_text(wall_now()) << "  " << event.type;
    if (event.id) std::cout << "  " << escape_text(*event.id);
    if (event.name != nullptr) std::cout << "  " << escape(event.value);
    std::cout << '\n';
    return;
  }
  core::AsciiObject one;
  one.put("type", event.type);
  one.put("time_ms", wall_now().count());
  one.put_bytes("feed", feed);
  if (event.id) one.put_bytes("id", *event.id);
  if (event.name != nullptr) one.put_bytes(event.name, event.value);
  print_json(one.finish());
}

class FeedWatch final : public FeedCommand {
 public:
  explicit FeedWatch(FeedKind kind) : kind_(kind) {}

 private:
  void declare_more(Arguments& words) override {
    declare_limit(words, "Exit after N events", limit_);
  }

  int work(const Options& options, Context& context) override {
    verbs::FeedAccess(server(context), feed_, kind_).check();
    verbs::Connection& redis = context.connection();
    verbs::ChannelWatch watch(redis, limit_, complain);
    verbs::watch_feed(watch, redis.reach(), feed_, kind_, [&](const verbs::FeedEvent& event) {
      show(event, feed_, options.json);
      watch.count(!std::cout.flush());
    });
    watch.run();
    return done;
  }

  FeedKind kind_;
  std::size_t limit_ = 0;  ///< 0: none
};

}  // namespace

const CommandMaker make_feed_watch = new_command<FeedWatch, FeedKind::feed>;
const CommandMaker make_sorted_watch = new_command<FeedWatch, FeedKind::sorted_feed>;
const CommandMaker make_queue_watch = new_command<FeedWatch, FeedKind::queue>;
const CommandMaker make_job_watch = new_command<FeedWatch, FeedKind::job>;

}  // namespace w8y::ctl
