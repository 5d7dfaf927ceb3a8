// Scenario: changes of jobs of schedules and feeds by command lines of w8yctl.
#include "core/job_code.hpp"
#include "ctl/failure.hpp"
#include "simulation/invariants_jobs.hpp"
#include "simulation/scenario.hpp"
#include "store/schedule/keys.hpp"
#include "store/thoonk/keys.hpp"
#include "view/json_fields.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

/// Interval at which a command line that must succeed is repeated.
constexpr Duration again_after = 700ms;

std::string shown(const std::vector<std::string>& words) {
  std::string text = "w8yctl";
  for (const std::string& word : words) text += ' ' + word;
  return text;
}

std::string schedule_of(Random& random, std::int64_t now_s) {
  return random.one_of<std::string>(
      {"FREQ=SECONDLY;INTERVAL=" + std::to_string(random.between(1, 9)),
       "FREQ=SECONDLY;BYSECOND=7,21,40", "CONTINUE",
       "AT:" + std::to_string(now_s + random.between(-1, 20)), "NOW", "STOP", "no schedule"});
}

/// Draws a command line for a schedule that ends at once.
std::vector<std::string> words_about_schedule(Random& random, const std::string& job,
                                              std::int64_t now_s) {
  const std::vector<std::string> group{"schedule", "-k", schedule_name};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), group.begin(), group.end());
    return words;
  };
  const auto dice = random.below(20);
  if (dice < 7) return with({"set", job, schedule_of(random, now_s)});
  if (dice < 8)
    return with({"set", job, schedule_of(random, now_s), "--after",
                 std::to_string(now_s + random.between(-20, 20))});
  if (dice < 12) return {"run", schedule_name, job};
  if (dice < 14) return with({"dispatch", "--once"});
  if (dice < 15)
    return with({"dispatch", "--once", "--after", std::to_string(now_s - random.between(0, 9))});
  if (dice < 16) return with({"unset", job});
  if (dice < 17) return with({"tell", job});
  return with({random.one_of<std::string>({"statuses", "schedules", "list"})});
}

std::vector<std::string> words_about_feed(Random& random, const std::string& id) {
  const auto dice = random.below(20);
  if (dice < 8)
    return {"job", random.one_of<std::string>({"cancel", "stall", "retry", "retract", "finish"}),
            feed_name, id};
  if (dice < 11) return {"run", feed_name, id};
  if (dice < 13) return {"job", "maintain", feed_name};
  if (dice < 14) return {"job", "failures", feed_name, id};
  if (dice < 15) return {"job", "ids", feed_name};
  if (dice < 16) return {"items", feed_name};
  if (dice < 17) return {"feed", "list"};
  if (dice < 18) return {"feed", "create", "notes", "--exists-ok"};
  if (dice < 19) return {"feed", "publish", "notes", "a note", "--id", id};
  return random.chance(50) ? std::vector<std::string>{"feed", "retract", "notes", id}
                           : std::vector<std::string>{"feed", "delete", "notes"};
}

std::vector<std::string> words_of_control(const std::string& value) {
  return {"schedule", "-k", schedule_name, "control", value};
}

}  // namespace

void Scenario::start_command(const Fault& fault) {
  if (operator_->busy()) return;
  fault.kind == Fault::Kind::command_of_schedule ? command_schedule(fault) : command_feed(fault);
}

/// Runs a command line of w8yctl, and calls `told` with its result.
void Scenario::command(const std::string& at, const std::vector<std::string>& words,
                       std::function<void(const CommandEnd& end)> told) {
  const Instant started = world_.now();
  const auto number = ++errands_;
  world_.log("operator", "", shown(words));
  operator_->command(at, words, [this, at, started, words, told](const CommandEnd& end) {
    world_.log("operator", "",
               "exit status " + std::to_string(end.exit) + (end.why.empty() ? "" : ": " + end.why));
    if (end.why.find("the simulation has no model") != std::string::npos)
      return promises_.break_promise("an operator gets a reply", end.why, {"operator"});
    const bool answered = !end.unanswered && end.exit != ctl::wrong_usage;
    if (!answered && !promises_.in_error("operator", at, started))
      return promises_.break_promise("an operator gets a reply", shown(words) + ": " + end.why,
                                     {"operator"});
    if (told) told(end);
  });
  expect_end(number);
}

/// Repeats a command line until it succeeds.
void Scenario::insist(const std::string& at, const std::vector<std::string>& words) {
  const auto again = [this, at, words] {
    world_.after(again_after, [this, at, words] { insist(at, words); });
  };
  if (operator_->busy()) return again();
  command(at, words, [again](const CommandEnd& end) {
    if (end.exit != ctl::done) again();
  });
}

void Scenario::command_schedule(const Fault& fault) {
  Random random(fault.number);
  Server& at = server(fault.server);
  const std::string job =
      "m" + std::to_string(1 + random.below(6)) + random.one_of<std::string>({":A", ":B"});
  if (random.below(10) > 0 || fault.time == Duration{0})
    return command(fault.server, words_about_schedule(random, job, at.keys().now_ms() / 1000));
  command(fault.server, words_of_control("HALT"));
  resume_schedule(fault.server, fault.time);
}

void Scenario::resume_schedule(const std::string& at, Duration pause) {
  world_.after(pause, [this, at] { insist(at, words_of_control("RESUME")); });
}

void Scenario::command_feed(const Fault& fault) {
  Random random(fault.number);
  const store::FeedKeys keys(feed_name);
  const Hash* items = server(fault.server).keys().find<Hash>(keys.items);
  std::string id = "job1";
  if (items != nullptr && !items->empty())
    id = std::next(items->begin(), static_cast<std::ptrdiff_t>(random.below(items->size())))->first;
  if (random.below(4) > 0) return command(fault.server, words_about_feed(random, id));
  command(fault.server, {"job", "get", feed_name, "--json"}, [this, &fault](const CommandEnd& end) {
    const auto json = view::JsonFields::parse(end.out);
    const auto job = json ? json->bytes("id") : std::nullopt;
    if (end.exit == ctl::done && job) operator_has(fault, *job);
  });
}

/// Called when `job get` has claimed a job without a lease. Ends the job a little later, or never.
void Scenario::operator_has(const Fault& fault, const std::string& id) {
  static const std::vector<std::string> ends{"finish", "finish", "cancel", "stall", "retract"};
  world_.log("operator", std::string(feed_name) + ' ' + id, "is claimed");
  if (fault.number % 6 == 0) return;
  world_.after(fault.time, [this, &fault, id] {
    if (operator_->busy()) return;
    command(fault.server, {"job", ends[fault.number % ends.size()], feed_name, id});
  });
}

}  // namespace w8y::sim
