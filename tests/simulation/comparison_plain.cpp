// Comparison: circular lists by plain commands, as a host has them that may not run scripts; and
// any commands on two connections that watch keys and gather what EXEC is to do.
#include "simulation/comparison.hpp"

namespace w8y::sim {

Value Comparison::on(Connection& connection, const Words& words) {
  const std::size_t told = published_.size();
  const auto run = [this](const Words& each) {
    const CommandInfo* info = command_of(each.front());
    if (info == nullptr) throw std::runtime_error("there is no model of " + each.front());
    return run_command(*info, {keys_, each, published_});
  };
  const Transaction::Rules rules{[](const Words&) { return std::string(); },
                                 [this](const std::string& key) { keys_.exists(key); },
                                 [&](const std::vector<Words>& queued) {
                                   std::vector<Value> replies;
                                   for (const Words& each : queued) replies.push_back(run(each));
                                   return Value::array(std::move(replies));
                                 }};
  const auto taken = connection.model.take(words, rules);
  const Value expected = taken ? *taken : run(words);
  compare_reply(words, expected, connection.real, published_.size() == told);
  return expected;
}

/// Of both connections: what they watch is not to be touched by the test's own clock.
void Comparison::leave_transactions() {
  for (Connection& each : connections_)
    on(each, each.model.open() ? Words{"DISCARD"} : Words{"UNWATCH"});
}

void Comparison::transaction_step() {
  Connection& connection = connections_[of_plain_.below(2)];
  const auto key = [this] { return "p" + std::to_string(of_plain_.below(6)); };
  const auto dice = of_plain_.below(100);
  if (dice < 12) return (void)on(connection, {"MULTI"});
  if (dice < 28) return (void)on(connection, {"EXEC"});
  if (dice < 31) return (void)on(connection, {"DISCARD"});
  if (dice < 34) return (void)on(connection, {"UNWATCH"});
  if (dice < 50) return (void)on(connection, {"WATCH", key(), key()});
  on(connection, any_command(of_plain_));
}

/// A pass: one item after the other, until one is free.
void Comparison::plain_claim() {
  Connection& here = connections_[0];
  const Run run{"run:h" + std::to_string(of_plain_.between(1, 3)) + ":1:", run_id(), {}};
  const std::string life = ms(of_plain_.between(1, 4));
  on(here, {"GETRANGE", "w:paused", "0", "4096"});
  on(here, {"HLEN", "w:quarantined"});
  const Value length = on(here, {"LLEN", "w:list"});
  const bool fleet = of_plain_.chance(40);
  if (fleet) {
    on(here, {"ZREMRANGEBYSCORE", "w:slots", "-inf", std::to_string(keys_.now_ms())});
    on(here, {"ZADD", "w:slots", std::to_string(keys_.now_ms() + unit_ms), run.id});
    on(here, {"PEXPIRE", "w:slots", ms(86)});
    on(here, {"ZCARD", "w:slots"});
  }
  for (auto left = std::min<std::int64_t>(length.number, 5); left > 0; --left) {
    const Value item = on(here, {"LMOVE", "w:list", "w:list", "LEFT", "RIGHT"});
    on(here, {"HEXISTS", "w:quarantined", item.text});
    const Value locked = on(here, {"SET", lock(item.text), run.holder + run.id, "PX", life, "NX"});
    if (locked.kind != Value::Kind::status) continue;
    held_.push_back({run.holder, run.id, item.text});
    const Value note = on(here, {"HMGET", "w:visits", item.text});
    if (!note.elements.empty() && note.elements[0].kind == Value::Kind::bulk)
      on(here, {"HSET", "w:visits", item.text, std::to_string(keys_.now_ms()) + " 1 0"});
    if (on(here, {"HEXISTS", "w:failures", item.text}).number == 1)
      on(here, {"HINCRBY", "w:failures", item.text, "0"});
    on(here, {"INCR", "w:fence"});
    return;
  }
  if (fleet) on(here, {"ZREM", "w:slots", run.id});
  const Value ahead = on(here, {"LRANGE", "w:list", "0", "3"});
  Words names{"EXISTS"};
  for (const Value& item : ahead.elements) names.push_back(lock(item.text));
  if (names.size() > 1) on(here, names);
}

/// What an end, a renewal or an undo does between WATCH and EXEC, while another may be faster.
void Comparison::plain_swap() {
  if (held_.empty()) return;
  Connection &here = connections_[0], &other = connections_[1];
  const auto place = of_plain_.below(held_.size());
  const Run run = held_[place];
  const std::string name = lock(run.item), value = run.holder + run.id;
  on(here, {"WATCH", name});
  on(here, {"HEXISTS", "w:quarantined", run.item});
  on(here, {"LPOS", "w:list", run.item});
  on(here, {"LRANGE", "w:runs", "0", "99"});
  const Value found = on(here, {"GETRANGE", name, "0", "1023"});
  const auto faster = of_plain_.below(8);
  if (faster == 0) on(other, {"SET", name, "another's", "PX", ms(1)});
  if (faster == 1) on(other, {"DEL", name});
  if (faster == 2) on(other, {"PEXPIRE", name, ms(2)});
  if (faster == 3) on(other, {"SET", name, "another's", "NX"});
  const auto kind = of_plain_.below(6);
  if (kind == 5 || (found.text != value && kind > 2)) return (void)on(here, {"UNWATCH"});
  on(here, {"MULTI"});
  if (kind == 0) {
    on(here, {"PEXPIRE", name, ms(3)});
  } else if (kind == 1) {
    on(here, {"SET", name, value, "PX", ms(3)});
  } else {
    if (of_plain_.chance(70)) held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(place));
    if (kind == 2) on(here, {"SET", name, "rest:cooldown", "PX", ms(2), "NX"});
    if (kind == 3) on(here, {"DEL", name});
    if (kind == 4) on(here, {"SET", name, "quarantine:" + run.id});
    if (kind == 4) on(here, {"HSET", "w:quarantined", run.item, R"({"run":"X1"})"});
    on(here, of_plain_.chance(50) ? Words{"HDEL", "w:failures", run.item}
                                  : Words{"HINCRBY", "w:failures", run.item, "1"});
    on(here, {"ZREM", "w:slots", run.id});
    on(here, {"LPUSH", "w:runs", R"({"run":")" + run.id + R"("})"});
    on(here, {"LTRIM", "w:runs", "0", "4"});
    on(here, {"PUBLISH", "w:wake", "free"});
  }
  on(here, {"EXEC"});
}

void Comparison::plain_step() {
  leave_transactions();
  of_plain_.chance(50) ? plain_claim() : plain_swap();
}

}  // namespace w8y::sim
