// Comparison of random changes of a circular list.
#include "simulation/comparison.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

/// Lets time pass for both. Expired keys are deleted, and other keys live as long as in the model.
void Comparison::pass(std::int64_t ms_passed) {
  leave_transactions();
  set_keyspace_events(false);
  prefix_.clear();
  const Dump before = model_keys();
  keys_.now_us += ms_passed * 1000 + static_cast<std::int64_t>(random_.below(1000));
  for (const auto& [key, entry] : before) {
    const std::int64_t left = keys_.ttl(key);
    const std::string text = std::to_string(left);
    if (left == -2) redis_.call({"DEL", key});
    if (left > 0) redis_.call({"PEXPIRE", key, text});
  }
  set_keyspace_events(true);
  compare_keys("time ");
}

void Comparison::claim_some() {
  const std::string who = holder();
  const std::int64_t wanted = random_.between(0, random_.chance(20) ? 20 : 3);
  const bool goes_on = left_ > 0 && random_.chance(60);
  const std::string pass = goes_on ? std::to_string(left_) : random_.chance(40) ? "-2" : "-1";
  Words arg{"w:lock:",
            who,
            ms(random_.between(1, 4)),
            std::to_string(random_.chance(50) ? 0 : random_.between(1, 4)),
            pass,
            std::to_string(random_.one_of<int>({4, 8, 256})),
            random_.chance(20) ? "1" : "0",
            std::to_string(random_.chance(15) ? -1 : random_.between(0, 2)),
            "w:wake",
            random_.chance(70) ? "1" : "0",
            random_.chance(10) ? "40" : "1048576",
            std::to_string(random_.one_of<int>({1, 3, 64})),
            random_.chance(90) ? "100" : "5",
            "4097",
            R"({"by":"h1","why":"too long"})",
            seen_fence(random_),
            "w:proc:"};
  std::vector<Run> wanted_runs;
  for (std::int64_t i = 0; i < wanted; ++i) {
    wanted_runs.push_back({who, run_id(), {}});
    arg.push_back(wanted_runs.back().id);
  }
  Words key{"w:list",   "w:fence",       "w:failures", "w:slots",
            "w:paused", "w:quarantined", "w:waiting",  "w:samples"};
  if (random_.chance(70)) key.push_back("w:breaker");
  lua(store::scripts::claim, key, arg, 2);
  left_ = -1;
  for (const auto& [key, entry] : model_keys())
    for (Run& run : wanted_runs)
      if (key.starts_with("w:lock:") && entry.what[0] == run.holder + run.id) {
        run.item = key.substr(7);
        held_.push_back(run);
      }
  if (random_.chance(50)) left_ = random_.between(1, 8);
}

void Comparison::claim_one() {
  const Run run{holder(), run_id(), item()};
  lua(store::scripts::claim_item,
      {"w:list", "w:fence", "w:failures", "w:slots", "w:paused", "w:quarantined", lock(run.item)},
      {run.holder + run.id, ms(random_.between(1, 4)), random_.chance(50) ? "0" : "2", run.item,
       run.id, "4096", seen_fence(random_), "w:lock:", "w:proc:"},
      no_time);
  const auto* value = keys_.find<std::string>(lock(run.item));
  if (value != nullptr && *value == run.holder + run.id) held_.push_back(run);
}

/// Settles runs that are held, and runs that were lost or settled before.
void Comparison::settle_some() {
  if (held_.empty()) return;
  Words key{"w:failures", "w:slots", "w:runs", "w:quarantined"};
  const auto kinds = random_.between(1, 2);
  const std::string breaker = limits_of_breaker(random_);
  Words arg{"w:events", "w:wake", "w:lock:", std::to_string(kinds), breaker};
  const std::string who = random_.one_of(held_).holder;
  for (std::int64_t i = 0; i < kinds; ++i) {
    const auto becomes = random_.below(4);
    const Words words[] = {{"", "0"},
                           {"delay:cooldown", ms(random_.between(1, 3))},
                           {"delay:backoff", ms(random_.between(1, 3))},
                           {"quarantine:0123", "0"}};
    arg.insert(
        arg.end(),
        {who, words[becomes][0], words[becomes][1], R"({"run":"X1"})",
         random_.one_of<std::string>({"keep", "reset", "increment", "unstarted"}),
         random_.chance(25) ? "1" : "0", random_.chance(20) ? "1" : "0",
         random_.one_of<std::string>({"0", "1 1000", "3 60", "30 300", "2 90 1500000"}),
         random_.chance(50) ? R"({"kept":1})" : "", random_.chance(70) ? "1" : "0",
         breaker.empty() ? ""
                         : random_.one_of<std::string>({"", "+", "-", "-", "-" + ms(2), ms(3)})});
  }
  std::set<std::string> locks;
  for (auto left = random_.between(1, 4); left > 0; --left) {
    const auto place = random_.below(held_.size());
    const Run run = held_[place];
    if (!locks.insert(run.item).second) continue;
    // Some runs stay in the list of runs, so that they are settled again.
    if (random_.chance(70)) held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(place));
    key.push_back(lock(run.item));
    arg.insert(arg.end(), {std::to_string(random_.between(1, kinds)), run.id,
                           random_.chance(80) ? R"({"run":")" + run.id + R"("})" : "",
                           random_.chance(50) ? R"(,"more":1)" : ""});
    if (held_.empty()) break;
  }
  key.push_back("w:waiting");
  lua(store::scripts::settle, key, arg, no_time);
}

void Comparison::renew_some() {
  if (held_.empty()) return;
  const bool fleet = random_.chance(40);
  Words key{fleet ? "w:slots" : lock(held_[0].item)};
  const std::int64_t now = keys_.now_ms();
  Words arg{ms(random_.between(1, 4)),
            fleet ? "1" : "0",
            std::to_string(random_.one_of<std::int64_t>({0, now, now + 1})),
            "w:lock:",
            "w:proc:",
            random_.one_of<std::string>({"0", "2", "64"})};
  for (auto left = random_.between(1, 5); left > 0; --left) {
    const Run& run = random_.one_of(held_);
    key.push_back(lock(run.item));
    arg.push_back(run.holder + run.id);
  }
  arg.push_back(random_.one_of<std::string>({"", "1", "01", "11111", "10101"}));
  lua(store::scripts::renew, key, arg, no_time);
}

void Comparison::undo_some() {
  if (held_.empty()) return;
  const Run& run = random_.one_of(held_);
  Words arg{"w:lock:",
            run.holder,
            std::to_string(random_.one_of<int>({2, 1024})),
            random_.chance(20) ? "20" : "16777216",
            "w:wake",
            run.id};
  if (random_.chance(50)) arg.push_back(random_.one_of(held_).id);
  lua(store::scripts::undo_claim, {"w:list", "w:slots"}, arg, no_time);
}

void Comparison::query_list() {
  const List* list = keys_.find<List>("w:list");
  const auto length = list == nullptr ? 0 : std::ssize(*list);
  lua(store::scripts::peek, {"w:list", "w:empty"},
      {random_.chance(80) ? "1048576" : "30",
       "w:lock:", std::to_string(random_.chance(80) ? length : length + 1),
       std::to_string(random_.between(0, 5)), std::to_string(random_.between(1, 20)),
       "w:lock:", "0", "0", "8"},
      no_time);
}

void Comparison::sweep_all() {
  lua(store::scripts::sweep, {"w:list", "w:failures", "w:quarantined"},
      {"200000", "w:lock:", "w:proc:"}, no_time);
}

void Comparison::order() {
  const std::string one = item(), two = item();
  const auto listed = random_.one_of<std::string>({"", "", "01", "11"});
  if (random_.chance(20)) {
    lua(store::scripts::move_first, {"w:list", "w:quarantined", lock(one), "w:proc:" + one},
        {"w:wake", one}, no_time);
  } else if (random_.chance(30)) {
    lua(store::scripts::rerun, {"w:list", "w:quarantined", "w:reruns", lock(one), "w:proc:" + one},
        {"w:wake", one}, no_time);
  } else if (random_.chance(50)) {
    lua(store::scripts::quarantine, {"w:list", "w:quarantined", lock(one), lock(two)},
        {listed, R"({"by":"somebody","run":"Y2"})", one, two}, no_time);
  } else {
    lua(store::scripts::release,
        {"w:list", "w:failures", "w:quarantined", lock(one), "w:proc:" + one, lock(two),
         "w:proc:" + two},
        {listed, "w:wake", one, two}, no_time);
  }
}

void Comparison::add_or_remove() {
  Words key{"w:list", "w:failures", "w:quarantined"};
  Words items;
  for (auto left = random_.between(1, 3); left > 0; --left) {
    items.push_back(item());
    key.push_back(lock(items.back()));
    key.push_back("w:proc:" + items.back());
  }
  if (random_.chance(60)) {
    items.insert(items.begin(), {random_.chance(80) ? "" : std::string(items.size(), '0'),
                                 random_.chance(20) ? "1" : "0", "w:wake",
                                 random_.chance(70) ? "" : "w:idempotency:1",
                                 random_.one_of<std::string>({"ab", "cd"}), "a note"});
    return lua(store::scripts::add, key, items, no_time);
  }
  const Words part{random_.one_of<std::string>({"-100", "-2", "1"}), "100",
                   random_.chance(80) ? "1000" : "12", "0"};
  const std::string removed(items.size(), random_.chance(80) ? '0' : '1');
  Words arg = part;
  if (random_.chance(30)) {
    arg.insert(arg.end(), items.begin(), items.end());
    return lua(store::scripts::find, {"w:list"}, arg, no_time);
  }
  const auto state =
      random_.one_of<std::string>({"", "", "free", "running", "delayed", "quarantined"});
  arg.insert(arg.end(), {state, "w:lock:", "w:proc:", removed});
  arg.insert(arg.end(), items.begin(), items.end());
  key.resize(3);
  lua(store::scripts::remove, key, arg, no_time);
}

void Comparison::user() {
  const std::string one = item();
  switch (random_.below(7)) {
    case 0:
    case 1:
      return (void)both({"RPUSH", "w:list", one});
    case 2:
      return (void)both({"LREM", "w:list", "0", one});
    case 3:
      if (random_.chance(70))
        return (void)both({"SET", "w:paused", "for a while", "PX", std::to_string(unit_ms)});
      return (void)both({"SET", "w:paused", "for a while"});
    case 4:
      return (void)both({"DEL", "w:paused"});
    case 5:
      return (void)both({"HSET", "w:samples", one, std::to_string(keys_.now_ms() - 5000) + " 0 0"});
    default:
      return (void)both({"SET", lock(one), "another's", "PX", std::to_string(unit_ms)});
  }
}

void Comparison::circular_step() {
  const auto dice = random_.below(100);
  if (dice < 30) return claim_some();
  if (dice < 34) return claim_one();
  if (dice < 50) return settle_some();
  if (dice < 58) return renew_some();
  if (dice < 63) return undo_some();
  if (dice < 69) return query_list();
  if (dice < 71) return sweep_all();
  if (dice < 76) return order();
  if (dice < 80) return add_or_remove();
  if (dice < 88) return user();
  // Shorter than a turn of a waiter, or longer than the longest lifetime.
  if (dice < 95) return pass(random_.between(0, 200));
  pass(unit_ms * random_.between(1, 3));
  if (random_.chance(20)) redis_.call({"SCRIPT", "FLUSH"});
}

}  // namespace w8y::sim
