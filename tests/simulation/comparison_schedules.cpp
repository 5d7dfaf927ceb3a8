// Comparison of random changes of schedules by w8y and by Redbike.
#include "simulation/comparison.hpp"
#include "store/schedule/keys.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

const store::ScheduleKeys& schedule_keys() {
  static const store::ScheduleKeys keys("s", "mails");
  return keys;
}

}  // namespace

/// Draws a job. Two of them have reserved codes, and one has no ':'.
std::string Comparison::job() {
  return of_schedules_.one_of<std::string>(
      {"a:A", "b:A", "c:A", "d:A", "a:B", "b:B", "long-name:B", "solo", "x:members", "y:A-A"});
}

void Comparison::set_schedules() {
  const auto& keys = schedule_keys();
  const std::int64_t now_s = keys_.now_ms() / 1000;
  Words arg{keys.work_prefix, keys.wake};
  for (auto left = of_schedules_.between(1, 4); left > 0; --left) {
    const auto what = of_schedules_.one_of<std::string>({"stop", "bad", "enqueue", "at", "at"});
    arg.insert(arg.end(), {job(), of_schedules_.one_of<std::string>({"STOP", "NOW", "CONTINUE"}),
                           what, std::to_string(now_s + of_schedules_.between(-5, 3000))});
    static constexpr const char* only_if[] = {"", "n", "sSTOP", "sNOW", "sCONTINUE"};
    if (what == "bad")
      arg.back() = only_if[static_cast<std::size_t>(std::stoll(arg.back())) % std::size(only_if)];
  }
  lua(store::scripts::schedule_set, {keys.schedules, keys.statuses, keys.timeline}, arg, no_time);
}

void Comparison::dispatch() {
  const auto& keys = schedule_keys();
  const std::int64_t now_s = keys_.now_ms() / 1000;
  lua(store::scripts::schedule_dispatch, {keys.timeline, keys.statuses, keys.control, keys.halted},
      {keys.work_prefix, keys.wake, of_schedules_.one_of<std::string>({"1", "3", "256"}),
       of_schedules_.chance(60) ? "" : std::to_string(now_s + of_schedules_.between(-10, 1500)),
       of_schedules_.chance(20) ? "1" : "0", "one:B:none"},
      no_time);
}

void Comparison::claim_jobs() {
  const auto& keys = schedule_keys();
  const std::string who = "run:h" + std::to_string(of_schedules_.between(1, 3)) + ":7:";
  const auto queues = of_schedules_.one_of<Words>({{"A"}, {"A", "B"}, {"A", "A", "B", "solo"}});
  Words arg{keys.work_prefix,
            who,
            ms(of_schedules_.between(1, 3)),
            of_schedules_.one_of<std::string>({"0", "0", "1", "3"}),
            std::to_string(of_schedules_.below(queues.size())),
            of_schedules_.chance(80) ? "4096" : "5",
            of_schedules_.chance(80) ? "4096" : "6",
            of_schedules_.chance(80) ? "100" : "3",
            seen_fence(of_schedules_),
            keys.list,
            std::to_string(queues.size())};
  arg.insert(arg.end(), queues.begin(), queues.end());
  std::vector<Taken> wanted;
  for (auto left = of_schedules_.between(1, 4); left > 0; --left) {
    const std::string run = run_id();
    wanted.push_back({{}, "tag" + run, run, who});
    arg.insert(arg.end(), {run, wanted.back().tag});
  }
  Words key{keys.control,  keys.paused, keys.fence,     keys.failures, keys.slots,
            keys.statuses, keys.taken,  keys.schedules, keys.halted};
  if (of_schedules_.chance(70)) key.push_back(keys.breaker);
  lua(store::scripts::schedule_claim, key, arg, 3);
  for (const auto& [key, entry] : model_keys())
    for (Taken& each : wanted)
      if (entry.kind == "string" && entry.what[0] == each.tag) {
        each.job = key.substr(key.find('-', keys.work_prefix.size()) + 1);
        taken_.push_back(each);
      }
}

void Comparison::end_job() {
  if (taken_.empty()) return;
  const auto& keys = schedule_keys();
  const auto place = of_schedules_.below(taken_.size());
  const Taken end = taken_[place];
  // Some runs stay in `taken_`, so that they are settled again.
  if (of_schedules_.chance(70)) taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(place));
  const auto effect = of_schedules_.one_of<std::string>(
      {"enqueue", "stop", "bad", "at", "in", "unset", "die", "later", "back"});
  const std::int64_t now_s = keys_.now_ms() / 1000;
  const std::int64_t number = of_schedules_.between(-3, 1500);
  std::string decided_by, after;
  if (of_schedules_.chance(50)) {
    decided_by = of_schedules_.one_of<std::string>({"n", "sSTOP", "sCONTINUE", "sNOW"});
    after = std::to_string(now_s + of_schedules_.between(-1, 0));
  }
  const std::string event = R"({"run":")" + end.run + R"("})";
  lua(store::scripts::schedule_settle,
      {keys.schedules, keys.statuses, keys.timeline, keys.taken, keys.failures, keys.slots,
       keys.runs, keys.working(end.job), keys.due, keys.jitter},
      {keys.work_prefix,
       keys.wake,
       keys.events,
       of_schedules_.chance(50) ? R"(,"more":1)" : "",
       end.job,
       end.tag,
       end.run,
       effect,
       std::to_string(effect == "at" ? now_s + number : number),
       decided_by,
       after,
       of_schedules_.chance(20) ? "1" : "0",
       of_schedules_.chance(30) ? "STOP" : "",
       of_schedules_.one_of<std::string>({"keep", "reset", "increment"}),
       of_schedules_.chance(30) ? "1" : "0",
       of_schedules_.one_of<std::string>({"0", "1 1000", "5 100", "2 90 1500000"}),
       of_schedules_.chance(80) ? event : "",
       of_schedules_.chance(30) ? "1" : "0",
       of_schedules_.chance(50) ? R"({"kept":1})" : "",
       limits_of_breaker(of_schedules_),
       of_schedules_.one_of<std::string>({"", "+", "-", "-", "?"}),
       std::to_string(of_schedules_.between(0, 9)),
       keys.list},
      no_time);
}

void Comparison::renew_jobs() {
  if (taken_.empty()) return;
  const auto& keys = schedule_keys();
  const bool fleet = of_schedules_.chance(40);
  Words key{keys.slots, keys.taken};
  Words arg{ms(of_schedules_.between(1, 3)), fleet ? "1" : "0"};
  for (auto left = of_schedules_.between(1, 4); left > 0; --left) {
    const Taken& each = of_schedules_.one_of(taken_);
    key.push_back(keys.working(each.job));
    arg.insert(arg.end(), {each.job, each.tag, each.run, of_schedules_.chance(50) ? "t" : "n"});
  }
  lua(store::scripts::schedule_renew, key, arg, no_time);
}

void Comparison::recover_jobs() {
  const auto& keys = schedule_keys();
  Words arg{keys.work_prefix,
            keys.wake,
            of_schedules_.one_of<std::string>({"0", "2 90 1500000"}),
            "10",
            keys.list,
            "0",
            "1000"};
  if (!taken_.empty() && of_schedules_.chance(30)) {
    const Taken& lost = of_schedules_.one_of(taken_);
    arg.push_back(lost.holder + lost.run);
  }
  lua(store::scripts::schedule_recover,
      {keys.taken, keys.statuses, keys.slots, keys.timeline, keys.runs}, arg, 1);
}

/// Creates or deletes a key of a wrong type.
void Comparison::spoil(Random& random, const Words& keys) {
  Words& spoilt = spoilt_[prefix_];
  if (!spoilt.empty() && random.chance(30)) {
    both({"DEL", spoilt.back()});
    return spoilt.pop_back();
  }
  if (!random.chance(20)) return;
  const std::string& key = random.one_of(keys);
  spoilt.push_back(key);
  both({"DEL", key});
  both(random.one_of<Words>({{"SET", key, "a text"},
                             {"RPUSH", key, "an element"},
                             {"HSET", key, "field", "value"},
                             {"SADD", key, "a member"},
                             {"ZADD", key, "5", "a member"}}));
}

/// Changes a schedule as users, an operator, or Redbike do. Redbike has no claim records.
void Comparison::change_schedule() {
  const auto& keys = schedule_keys();
  const std::string which = job(), now_s = std::to_string(keys_.now_ms() / 1000);
  const std::string queue = keys.queue(which.substr(which.find(':') + 1));
  switch (of_schedules_.below(10)) {
    case 0:
      return lua(
          store::scripts::schedule_unset,
          {keys.schedules, keys.statuses, keys.timeline, keys.failures, queue, queue + "-members"},
          {keys.work_prefix, which}, no_time);
    case 1:
    case 2:
      return lua(store::scripts::schedule_run,
                 {keys.schedules, keys.statuses, keys.timeline, keys.control, keys.paused},
                 {keys.work_prefix, keys.wake, which}, no_time);
    case 3: {
      const Value taken = both({"RPOP", queue});
      if (taken.kind != Value::Kind::bulk) return;
      both({"SREM", queue + "-members", taken.text});
      both({"SET", keys.working(taken.text), "redbike", "PX", ms(1)});
      both({"HSET", keys.statuses, taken.text, "WRK:" + now_s});
      return;
    }
    case 4:
      both({"SET", keys.control, of_schedules_.chance(70) ? "HALT" : "something"});
      return;
    case 5:
    case 6:
      both({"DEL", of_schedules_.chance(70) ? keys.control : keys.paused});
      return;
    case 7:
      both({"SET", keys.paused, "for a while", "PX", ms(1)});
      return;
    case 8:
      both({"ZADD", keys.timeline, of_schedules_.one_of<std::string>({"-inf", "+inf", now_s}),
            which});
      return;
    default:
      both({"RPUSH", queue, which});
  }
}

void Comparison::schedule_step() {
  const auto& keys = schedule_keys();
  spoil(of_schedules_, {keys.schedules, keys.statuses, keys.timeline, keys.taken, keys.failures,
                        keys.slots, keys.runs, keys.control, keys.paused, keys.fence, keys.halted,
                        keys.queue("A"), keys.members("A"), keys.working("a:A")});
  const auto dice = of_schedules_.below(100);
  if (dice < 20) return set_schedules();
  if (dice < 35) return dispatch();
  if (dice < 55) return claim_jobs();
  if (dice < 72) return end_job();
  if (dice < 80) return renew_jobs();
  if (dice < 88) return recover_jobs();
  change_schedule();
}

}  // namespace w8y::sim
