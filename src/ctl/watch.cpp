// Prints events of runs on all hosts as they occur.
#include <iostream>
#include <optional>
#include <string_view>

#include "core/escape.hpp"
#include "core/json_text.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/channel_watch.hpp"
#include "operator/lists.hpp"
#include "view/run_view.hpp"

namespace w8y::ctl {

namespace {

using view::JsonFields;

/// Returns the data of an update as its executor sent it.
std::string data_of(std::string_view payload) {
  const auto members = json_text::members(payload);
  const json_text::Member* const data = members ? json_text::find(*members, "data") : nullptr;
  return data == nullptr ? "null" : json_text::one_line(data->value);
}

/// Returns the details of a message on `P events` (source/run_record).
std::string detail_of(const JsonFields& event, std::string_view payload) {
  const std::string type = event.text("type");
  if (type == "start") return "pid " + std::to_string(event.number<int>("pid"));
  if (type == "progress") return progress_text(view::read_progress(event));
  if (type == "update") return escape(data_of(payload));
  if (type != "end") return {};
  std::string text = coloured(shaded(event.text("outcome")));
  text += " after " + format_duration(event.ms("duration_ms").value_or(WallTime{0}));
  if (const std::string reason = escape(event.text("reason")); !reason.empty())
    text += ": " + reason;
  return text;
}

void show(const std::optional<JsonFields>& event, std::string_view payload, bool json) {
  if (json) {
    if (event) return print_json(*event);
    core::AsciiObject unknown;
    unknown.put("type", "unknown");
    unknown.put("text", escape(payload));
    print_json(unknown.finish());
  } else if (event) {
    const auto list = event->bytes("list");
    const auto item = view::read_item(*event);
    std::cout << time_text(event->ms("time_ms").value_or(WallTime{0})) << "  "
              << (list ? escape_text(*list) : "?") << "  " << escape(event->text("run")) << "  "
              << escape(event->text("host")) << "  " << (item ? item_text(*item) : "?") << "  "
              << escape(event->text("type")) << "  " << detail_of(*event, payload) << '\n';
  } else {
    std::cout << escape(payload) << '\n';
  }
}

class Watch final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix_or_none(words, "A list, or a pattern (default: all lists in the config)",
                           prefix_);
    declare_limit(words, "Exit after N events", limit_);
  }

  int run(const Options& options, Context& context) override {
    verbs::ChannelWatch watch(context.connection(), limit_, complain);
    verbs::QueryContext query = context.query();
    for (const auto& prefix : verbs::lists_of(query, prefix_)) {
      const auto known = query.lists == nullptr ? std::nullopt : query.lists->find(prefix);
      const bool may_share = known && known->kind->has_key_prefix;
      watch.add(verbs::events_channel(query, prefix),
                [&, may_share, prefix](std::string_view payload) {
                  const auto event = JsonFields::parse(payload);
                  // Lists with the same key prefix have the same channel.
                  if (may_share && event && event->bytes("list").value_or(prefix) != prefix) return;
                  show(event, payload, options.json);
                  watch.count(!std::cout.flush());
                });
    }
    if (watch.empty()) throw Failure(refused, "the config has no lists to watch");
    watch.run();
    return done;
  }

 private:
  std::optional<std::string> prefix_;
  std::size_t limit_ = 0;  ///< 0: none
};

}  // namespace

const CommandMaker make_watch = new_command<Watch>;

}  // namespace w8y::ctl
