// Explains why an item does not run, or what limits a list.
#include "operator/why.hpp"

#include <iomanip>
#include <iostream>
#include <optional>

#include "api/endpoints.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/fleet_access.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "view/host_view.hpp"

namespace w8y::ctl {

namespace {

using view::JsonFields;

class AskWhy final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix(words, "The list", prefix_);
    item_.declare(words, true);
    words.then([this] {
      if (item_.items.size() > 1) throw Failure(wrong_usage, "why accepts at most one ITEM");
    });
  }

  /// Sends one request to the w8yd of this host. If w8yd is not reachable, collects the facts
  /// itself.
  int run(const Options& options, Context& context) override {
    if (const auto answer = query_host(options, context)) {
      if (options.json) {
        print_json(*answer);
      } else {
        for (const JsonFields& sentence : answer->objects("reasons"))
          print_line(with_times(sentence.text("text"), time_text));
        print_age(answer->ms("age_ms").value_or(WallTime{0}));
      }
      return answer->text("state") == "unknown" ? refused : done;
    }
    verbs::WhyQuestion question;
    question.list = prefix_;
    if (!item_.items.empty()) question.item = item_.items.front();
    if (!options.json) question.time_text = time_text;
    question.requested = wall_now();
    const Why why = explain(options, context, question);
    const WallTime age = wall_now() - question.requested;
    if (options.json) {
      print_json(why_json(why, question.list, question.item, age));
    } else {
      for (const WhySentence& sentence : why.sentences) print_line(sentence.text);
      print_age(age);
    }
    return why.unknown() ? refused : done;
  }

 private:
  static void print_age(WallTime age) {
    std::cout << std::fixed << std::setprecision(1) << "as of "
              << static_cast<double>(age.count()) / 1000 << " s ago\n";
  }

  /// Requests the explanation from w8yd, which uses the fleet and lock keys of its own config.
  /// nullopt: w8yd is not reachable, or an option names another Redis, fleet or lock key.
  [[nodiscard]] std::optional<JsonFields> query_host(const Options& options,
                                                     Context& context) const {
    if (context.names_redis() || !options.fleet.empty() || !options.lock_key.empty())
      return std::nullopt;
    std::optional<std::string_view> times;
    if (!options.json) times = "marked";
    return context.request_if_present(
        item_.items.empty()
            ? api::endpoints::why_list.target({prefix_}, {{"times", times}})
            : api::endpoints::why_item.target({prefix_, item_.items.front()}, {{"times", times}}),
        "reasons");
  }

  /// Collects the facts from Redis and by fleet commands.
  static Why explain(const Options& options, Context& context, verbs::WhyQuestion& question) {
    try {
      send_to_fleet(options, context, question);
      verbs::QueryContext query = context.query();
      return verbs::explain(query, question);
    } catch (const verbs::RedisError& error) {
      if (!verbs::is_unreachable(error)) throw;
      // Facts that the w8yd of this host has without Redis.
      const auto status = context.try_request(api::endpoints::status_of_host());
      const HostStatus host = status ? view::read_host(*status) : HostStatus{};
      if (host.redis.error.empty()) throw;
      return why_unavailable(host.host, host.redis.error, host.redis.away_since, wall_now(),
                             question.time_text);
    }
  }

  static void send_to_fleet(const Options& options, Context& context,
                            verbs::WhyQuestion& question) {
    FleetAccess fleet(options, context);
    bool seen = false;
    try {
      question.hosts = fleet.read(true, question.list).hosts;
      seen = true;
      if (question.hosts.empty()) return;
      FleetCommand order;
      order.kind = FleetCommandKind::runs;
      order.list = question.list;
      question.replies = fleet.send(std::move(order));
    } catch (const Failure& failure) {
      // Without replies of hosts, their list reports are still available.
      if (!seen) question.fleet_error = failure.what();
    }
  }

  std::string prefix_;
  ItemArguments item_;
};

}  // namespace

const CommandMaker make_why = new_command<AskWhy>;

}  // namespace w8y::ctl
