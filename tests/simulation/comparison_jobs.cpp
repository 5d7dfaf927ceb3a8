// Comparison of random changes of jobs of a feed by w8y and by clients of Thoonk's contract.
#include "simulation/comparison.hpp"
#include "store/scripts.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::sim {

namespace {

const store::FeedKeys& feed_keys() {
  static const store::FeedKeys keys("feed");
  return keys;
}

}  // namespace

std::string Comparison::job_id() {
  return of_jobs_.chance(95) ? "j" + std::to_string(of_jobs_.below(12))
                             : "a long one, \xC3\xA4\xFF";
}

void Comparison::put_feed_jobs() {
  const auto& keys = feed_keys();
  Words arg{keys.feed,
            of_jobs_.chance(50) ? "" : "client",
            keys.keep,
            keys.result_prefix,
            of_jobs_.chance(70) ? "" : keys.request_prefix + "1",
            of_jobs_.one_of<std::string>({"ab", "cd"}),
            "a note"};
  for (auto left = of_jobs_.between(1, 4); left > 0; --left) {
    const std::string payload = of_jobs_.one_of<std::string>({"", "a payload", "one that is long"});
    arg.insert(arg.end(),
               {job_id(), payload, of_jobs_.one_of<std::string>({"", "h", "n", "hn", "r", "hr"}),
                of_jobs_.chance(50) ? "" : ms(3)});
  }
  lua(store::scripts::job_put,
      {keys.config, keys.ids, keys.items, keys.publishes, keys.published, keys.claimed,
       keys.cancelled, keys.stalled, "feeds"},
      arg, no_time);
}

void Comparison::claim_feed_jobs() {
  const auto& keys = feed_keys();
  const std::string who = "run:h" + std::to_string(of_jobs_.between(1, 3)) + ":9:";
  Words arg{keys.lease_prefix,
            who,
            ms(of_jobs_.between(1, 3)),
            of_jobs_.one_of<std::string>({"0", "0", "2", "5"}),
            of_jobs_.one_of<std::string>({"2", "256", "256"}),
            of_jobs_.chance(80) ? "4096" : "12",
            of_jobs_.chance(80) ? "4096" : "10",
            of_jobs_.chance(80) ? "100" : "3",
            seen_fence(of_jobs_)};
  for (auto left = of_jobs_.between(1, 5); left > 0; --left) arg.push_back(run_id());
  Words key{keys.config,  keys.paused,    keys.fence,   keys.slots,     keys.ids,  keys.items,
            keys.claimed, keys.cancelled, keys.stalled, keys.published, keys.taken};
  if (of_jobs_.chance(70)) key.push_back(keys.breaker);
  lua(store::scripts::job_claim, key, arg, 2);
  for (const auto& [key, entry] : model_keys())
    for (std::size_t i = 9; i < arg.size(); ++i)
      if (key.starts_with(keys.lease_prefix) && entry.what[0] == who + arg[i])
        claimed_.push_back({who, arg[i], key.substr(keys.lease_prefix.size())});
}

void Comparison::end_feed_jobs() {
  if (claimed_.empty()) return;
  const auto& keys = feed_keys();
  const auto kinds = of_jobs_.between(1, 2);
  const std::string who = of_jobs_.one_of(claimed_).holder;
  const std::string breaker = limits_of_breaker(of_jobs_);
  Words arg{keys.wake,         keys.events,           keys.finish_channel,
            keys.lease_prefix, std::to_string(kinds), breaker};
  for (std::int64_t i = 0; i < kinds; ++i)
    arg.insert(arg.end(),
               {who,
                of_jobs_.one_of<std::string>(
                    {"finish", "finish", "cancel", "hold", "stall", "requeue", "back", "leave"}),
                ms(1), of_jobs_.chance(30) ? "1" : "0",
                of_jobs_.one_of<std::string>({"0", "2 1000", "20 200", "2 90 1500000"}),
                of_jobs_.chance(50) ? R"({"kept":1})" : "", "5",
                breaker.empty() ? "" : of_jobs_.one_of<std::string>({"", "+", "-", "-"})});
  for (auto left = of_jobs_.between(1, 4); left > 0 && !claimed_.empty(); --left) {
    const auto place = of_jobs_.below(claimed_.size());
    const Run run = claimed_[place];
    // Some runs stay in `taken_`, so that they are settled again.
    if (of_jobs_.chance(70)) claimed_.erase(claimed_.begin() + static_cast<std::ptrdiff_t>(place));
    arg.insert(arg.end(), {std::to_string(of_jobs_.between(1, kinds)), run.id, run.item, "a result",
                           of_jobs_.chance(80) ? R"({"run":")" + run.id + R"("})" : "",
                           of_jobs_.chance(50) ? R"(,"more":1)" : ""});
  }
  lua(store::scripts::job_settle,
      {keys.ids, keys.items, keys.claimed, keys.cancelled, keys.stalled, keys.published,
       keys.finishes, keys.taken, keys.slots, keys.runs},
      arg, no_time);
}

void Comparison::renew_feed_jobs() {
  if (claimed_.empty()) return;
  const auto& keys = feed_keys();
  Words key{keys.slots, keys.taken, keys.claimed};
  Words arg{ms(of_jobs_.between(1, 3)), of_jobs_.chance(40) ? "1" : "0"};
  for (auto left = of_jobs_.between(1, 4); left > 0; --left) {
    const Run& run = of_jobs_.one_of(claimed_);
    key.push_back(keys.lease(run.item));
    arg.insert(arg.end(), {run.item, run.holder + run.id, of_jobs_.chance(50) ? "t" : "n"});
  }
  lua(store::scripts::job_renew, key, arg, no_time);
}

void Comparison::recover_feed_jobs() {
  const auto& keys = feed_keys();
  Words arg{keys.lease_prefix,
            keys.wake,
            of_jobs_.one_of<std::string>({"0", "2"}),
            of_jobs_.one_of<std::string>({"0", "3 200"}),
            "8",
            "0",
            "1000"};
  if (!claimed_.empty() && of_jobs_.chance(30)) {
    const Run& lost = of_jobs_.one_of(claimed_);
    arg.push_back(lost.holder + lost.id);
  }
  lua(store::scripts::job_recover,
      {keys.ids, keys.claimed, keys.cancelled, keys.stalled, keys.published, keys.taken, keys.slots,
       keys.runs},
      arg, 1);
}

void Comparison::maintain_feed() {
  const auto& keys = feed_keys();
  Words arg{keys.lease_prefix,
            keys.wake,
            of_jobs_.one_of<std::string>({"0", "2"}),
            "3 200",
            "8",
            of_jobs_.one_of<std::string>({"h1", "h1", "h2"}),
            ms(of_jobs_.between(1, 2))};
  const std::string look = "look" + std::to_string(of_jobs_.below(3));
  arg.push_back(of_jobs_.one_of<std::string>(
      {"begin", "claims", "reruns", "ids", "items", "check", "sweep"}));
  const std::string& step = arg[7];
  if (step == "begin") arg.push_back(of_jobs_.chance(20) ? "1" : "0");
  if (step == "claims") arg.insert(arg.end(), {"0", "3", of_jobs_.chance(30) ? "0" : ms(2)});
  if (step == "reruns") arg.insert(arg.end(), {"0", "1000"});
  if (step == "ids") arg.insert(arg.end(), {std::to_string(of_jobs_.below(4)), "3"});
  if (step == "items") arg.insert(arg.end(), {"0", "1000"});
  if (step == "check") arg.insert(arg.end(), {look, job_id(), job_id(), job_id()});
  if (step == "sweep") arg.insert(arg.end(), {look, "0"});
  lua(store::scripts::job_maintain,
      {keys.config, keys.ids, keys.items, keys.claimed, keys.cancelled, keys.stalled,
       keys.published, keys.taken, keys.runs, keys.nowhere, keys.maintained},
      arg, 1);
}

void Comparison::change_feed_jobs() {
  const auto& keys = feed_keys();
  const auto what =
      of_jobs_.one_of<std::string>({"finish", "cancel", "stall", "retry", "retract", "next"});
  Words arg{keys.feed,
            what,
            keys.lease_prefix,
            keys.taken,
            of_jobs_.chance(50) ? keys.finish_channel : "",
            "a result",
            job_id()};
  if (of_jobs_.chance(50)) arg.push_back(job_id());
  lua(store::scripts::job_change,
      {keys.config, keys.ids, keys.items, keys.published, keys.claimed, keys.cancelled,
       keys.stalled, keys.finishes, "feeds"},
      arg, no_time);
}

/// Changes a feed as an operator does, or a client that claims in two steps and may stop in
/// between.
void Comparison::change_feed() {
  const auto& keys = feed_keys();
  switch (of_jobs_.below(10)) {
    case 0:
      return lua(store::scripts::feed_create, {keys.config, "feeds"},
                 {keys.feed, of_jobs_.chance(90) ? "job" : "queue", "", "an instance"}, no_time);
    case 1:
      if (of_jobs_.chance(80)) return;
      return lua(store::scripts::feed_delete,
                 {keys.config, keys.ids, keys.items, keys.publishes, keys.idincr, keys.published,
                  keys.claimed, keys.cancelled, keys.stalled, keys.finishes, "feeds"},
                 {keys.feed, "an instance", keys.lease_prefix, keys.taken}, no_time);
    case 2: {
      if (claimed_.empty()) return;
      const Run& run = of_jobs_.one_of(claimed_);
      return lua(store::scripts::job_stall_at_end, {keys.taken, keys.claimed}, {run.item, run.id},
                 no_time);
    }
    case 3:
      return lua(store::scripts::job_cleanup,
                 {keys.items,
                  of_jobs_.one_of<std::string>({keys.stalled, keys.cancelled, keys.published})},
                 {"0", "1000"}, no_time);
    case 4:
      return lua(store::scripts::feed_get,
                 {keys.config, keys.ids, keys.items, keys.claimed, keys.stalled, "feeds"},
                 {keys.feed, "job", of_jobs_.chance(80) ? "4096" : "10"}, no_time);
    case 5: {
      const Value id = both({"RPOP", keys.ids});
      if (id.kind != Value::Kind::bulk || of_jobs_.chance(30)) return;
      both({"ZADD", keys.claimed, std::to_string(keys_.now_ms() / (of_jobs_.chance(80) ? 1 : 1000)),
            id.text});
      return;
    }
    case 6:
      both({"RPUSH", keys.ids, job_id()});
      return;
    case 7:
      both({"SET", keys.paused, "for a while", "PX", ms(1)});
      return;
    case 8:
      both({"DEL", keys.paused});
      return;
    default:
      both({"HSET", keys.cancelled, job_id(), of_jobs_.one_of<std::string>({"1", "3", "many"})});
  }
}

void Comparison::job_step() {
  const auto& keys = feed_keys();
  spoil(of_jobs_,
        {keys.config, keys.ids, keys.items, keys.publishes, keys.published, keys.claimed,
         keys.cancelled, keys.stalled, keys.finishes, keys.taken, keys.nowhere, keys.maintained,
         keys.fence, keys.slots, keys.paused, keys.runs, keys.lease("j1"), "feeds"});
  const auto dice = of_jobs_.below(100);
  if (dice < 18) return put_feed_jobs();
  if (dice < 36) return claim_feed_jobs();
  if (dice < 54) return end_feed_jobs();
  if (dice < 60) return renew_feed_jobs();
  if (dice < 68) return recover_feed_jobs();
  if (dice < 78) return maintain_feed();
  if (dice < 86) return change_feed_jobs();
  change_feed();
}

}  // namespace w8y::sim
