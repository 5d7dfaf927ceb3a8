// Why an item does not run, or a list not faster.
#include "operator/why.hpp"

#include <iostream>
#include <optional>

#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/fleet_access.hpp"
#include "app/ctl/text.hpp"
#include "app/ctl/values.hpp"
#include "core/escape.hpp"
#include "view/host_view.hpp"

namespace w8y::app::ctl {

namespace {

/// What the w8yd of this host knows without Redis.
std::optional<Why> why_without_redis(Context& context) {
  const auto status = context.try_ask("/api/v1/status?lists=no");
  if (!status) return std::nullopt;
  const HostStatus host = view::read_host(*status);
  if (host.redis.trouble.empty()) return std::nullopt;
  return why_unavailable(host.host, host.redis.trouble, host.redis.away_since, wall_now());
}

class AskWhy final : public Command {
 public:
  void declare(Words& words) override {
    declare_prefix(words, "The list", prefix_);
    item_.declare(words, true);
    words.then([this] {
      if (item_.items.size() > 1) throw Failure(wrong_usage, "why takes one ITEM at most");
    });
  }

  int run(const Options& options, Context& context) override {
    verbs::WhyQuestion question;
    question.list = prefix_;
    if (!item_.items.empty()) question.item = item_.items.front();
    question.time_text = time_text;
    const Why why = find_why(options, context, question);
    if (options.json) {
      core::AsciiObject json(1024);
      verbs::put_why(json, question, why);
      print_json(json.take());
    } else {
      for (const WhySentence& each : why.sentences) print_line(each.text);
    }
    return why.unknown() ? refused : done;
  }

 private:
  static Why find_why(const Options& options, Context& context, verbs::WhyQuestion& question) {
    try {
      complete(options, context, question);
      verbs::QueryContext query = context.query();
      return verbs::explain(query, question);
    } catch (const redis::RedisError& error) {
      if (error.code() != redis::ErrorCode::none) throw;
      if (auto why = why_without_redis(context)) return *why;
      throw;
    }
  }

  static void complete(const Options& options, Context& context, verbs::WhyQuestion& question) {
    const std::string& list = question.list;
    FleetAccess fleet(options, context);
    bool seen = false;
    try {
      question.hosts = fleet.look(true, list).hosts;
      seen = true;
      if (question.hosts.empty()) return;
      FleetOrder order;
      order.kind = OrderKind::runs;
      order.list = list;
      question.replies = fleet.give(std::move(order));
    } catch (const Failure& failure) {
      // Who can't ask hosts still has what they have told.
      if (!seen) question.fleet_trouble = failure.what();
    }
  }

  std::string prefix_;
  ItemWords item_;
};

}  // namespace

CommandPtr make_why() {
  return std::make_unique<AskWhy>();
}

}  // namespace w8y::app::ctl
