// Events of runs as they happen, on all hosts.
#include <iostream>
#include <optional>
#include <string_view>

#include <w8y/escape.hpp>
#include <w8y/units.hpp>

#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"
#include "app/ctl/values.hpp"
#include "redis/subscriber.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

/// A message on `P events` (source/run_record): what is told beside the run.
std::string detail_of(const Json& event) {
  const std::string type = text_in(event, "type");
  if (type == "start") return "pid " + std::to_string(number_in(event, "pid"));
  if (type == "progress") return progress_in(event);
  if (type == "update") return escape(ops::dump(event.value("data", Json())));
  if (type != "end") return {};
  std::string text = coloured(shaded(text_in(event, "outcome")));
  text += " after " + format_duration(WallTime(number_in(event, "took_ms")));
  if (const std::string reason = text_in(event, "reason"); !reason.empty()) text += ": " + reason;
  return text;
}

class Watcher final : private redis::Subscriber::Listener {
 public:
  Watcher(loop::Loop& loop, redis::Subscriber& subscriber, bool json, std::size_t limit)
      : redis::Subscriber::Listener(subscriber), loop_(loop), json_(json), limit_(limit) {}

  void on_message(std::string_view payload) {
    if (seen_ > 0 && seen_ == limit_) return;
    auto event = ops::parse(payload);
    if (event && !event->is_object()) event.reset();
    if (json_) {
      print_json(event ? *event : Json{{"type", "unknown"}, {"text", escape(payload)}});
    } else if (event) {
      std::cout << time_text(WallTime(number_in(*event, "time_ms"))) << "  "
                << shown_in(*event, "list") << "  " << text_in(*event, "run") << "  "
                << text_in(*event, "host") << "  " << item_in(*event) << "  "
                << text_in(*event, "type") << "  " << detail_of(*event) << '\n';
    } else {
      std::cout << escape(payload) << '\n';
    }
    std::cout.flush();
    if (++seen_ == limit_ || !std::cout) loop_.stop();
  }

  [[nodiscard]] const std::optional<std::string>& failure() const { return failure_; }

 private:
  void on_up() override {
    if (in_trouble_) complain("Redis is back; events may have been missed");
    in_trouble_ = false;
    reached_ = true;
  }
  void on_down(const std::string& why) override {
    if (!reached_) {
      failure_ = why;
      loop_.stop();
    } else if (!in_trouble_) {
      complain("Redis is gone: " + escape(why) + "; waiting for it");
    }
    in_trouble_ = true;
  }
  void on_refused(const std::string& channel, const std::string& why) override {
    complain(escape_text(channel) + ": " + escape(why));
  }

  loop::Loop& loop_;
  bool json_;
  std::size_t limit_;
  std::size_t seen_ = 0;
  bool reached_ = false;
  bool in_trouble_ = false;
  std::optional<std::string> failure_;
};

class Watch final : public Command {
 public:
  void declare(Words& words) override {
    declare_prefix_or_none(words, "A list, or a pattern (default: all of the config)", prefix_);
    declare_limit(words, "End after N events", limit_);
  }

  int run(const Options& options, Context& context) override {
    redis::Subscriber subscriber(context.loop(), context.redis_options());
    Watcher watcher(context.loop(), subscriber, options.json, limit_);
    std::vector<redis::Subscription> subscriptions;
    for (const auto& prefix : context.lists_of(prefix_))
      subscriptions.push_back(subscriber.subscribe(
          context.keys(prefix).events,
          [&watcher](std::string_view, std::string_view payload) { watcher.on_message(payload); }));
    if (subscriptions.empty()) throw Failure(refused, "the config has no lists to watch");
    context.loop().run();
    if (watcher.failure()) throw Failure(not_reachable, *watcher.failure());
    return done;
  }

 private:
  std::optional<std::string> prefix_;
  std::size_t limit_ = 0;  ///< 0: none
};

}  // namespace

CommandPtr make_watch() {
  return std::make_unique<Watch>();
}

}  // namespace w8y::app::ctl
