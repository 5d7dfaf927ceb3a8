// Events of runs as they happen, on all hosts.
#include <iostream>
#include <optional>
#include <string_view>

#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"
#include "app/ctl/values.hpp"
#include "app/ctl/watching.hpp"
#include "core/escape.hpp"
#include "core/units.hpp"
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
  text += " after " + format_duration(ms_in(event, "took_ms"));
  if (const std::string reason = text_in(event, "reason"); !reason.empty()) text += ": " + reason;
  return text;
}

void show(const Json* event, std::string_view payload, bool json) {
  if (json) {
    print_json(event != nullptr ? *event : Json{{"type", "unknown"}, {"text", escape(payload)}});
  } else if (event != nullptr) {
    std::cout << time_text(ms_in(*event, "time_ms")) << "  " << shown_in(*event, "list") << "  "
              << text_in(*event, "run") << "  " << text_in(*event, "host") << "  "
              << item_in(*event) << "  " << text_in(*event, "type") << "  " << detail_of(*event)
              << '\n';
  } else {
    std::cout << escape(payload) << '\n';
  }
}

class Watch final : public Command {
 public:
  void declare(Words& words) override {
    declare_prefix_or_none(words, "A list, or a pattern (default: all of the config)", prefix_);
    declare_limit(words, "End after N events", limit_);
  }

  int run(const Options& options, Context& context) override {
    redis::Subscriber subscriber(context.loop(), context.redis_options());
    Watching watching(context.loop(), subscriber, limit_);
    const auto tell = [&](std::string_view, std::string_view payload) {
      if (!watching.wanted()) return;
      const auto event = ops::parse(payload);
      show(event && event->is_object() ? &*event : nullptr, payload, options.json);
      watching.seen();
    };
    std::vector<redis::Subscription> subscriptions;
    for (const auto& prefix : context.lists_of(prefix_))
      subscriptions.push_back(subscriber.subscribe(context.keys(prefix).events, tell));
    if (subscriptions.empty()) throw Failure(refused, "the config has no lists to watch");
    watching.run();
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
