// Redis commands for sorted sets.
#include <algorithm>
#include <array>
#include <utility>

#include "simulation/commands.hpp"

namespace w8y::sim {

namespace {

using Effect = CommandInfo::Effect;
using Scored = std::pair<double, std::string>;

/// Bound of a score: "5", "(5", "-inf".
struct Bound {
  double score = 0;
  bool open = false;

  static Bound of(const std::string& text) {
    Bound bound;
    bound.open = text.starts_with('(');
    const auto score = strict_double(bound.open ? text.substr(1) : text);
    if (!score) throw CommandError("ERR min or max is not a float");
    bound.score = *score;
    return bound;
  }
  [[nodiscard]] bool below(double other) const { return open ? score < other : score <= other; }
  [[nodiscard]] bool above(double other) const { return open ? score > other : score >= other; }
};

std::vector<Scored> in_order(const CommandCall& call) {
  const SortedSet* set = call.keys.find<SortedSet>(call.key());
  if (set == nullptr) return {};
  return {set->order().begin(), set->order().end()};
}

/// Returns the members between two scores. `first` and `last` are the positions of these words.
std::vector<Scored> between(const CommandCall& call, std::size_t first = 2, std::size_t last = 3) {
  const Bound least = Bound::of(call.words[first]), most = Bound::of(call.words[last]);
  std::vector<Scored> found;
  if (const SortedSet* set = call.keys.find<SortedSet>(call.key())) {
    for (auto each = set->order().lower_bound({least.score, {}});
         each != set->order().end() && most.above(each->first); ++each)
      if (least.below(each->first)) found.push_back(*each);
  }
  return found;
}

Value reply_of(const CommandCall& call, const std::vector<Scored>& found, bool with_scores) {
  Words words;
  for (const auto& [score, member] : found) {
    words.push_back(member);
    if (with_scores) words.push_back(call.keys.score_text(score));
  }
  return bulk_array(std::move(words));
}

Value run_zadd(const CommandCall& call) {
  std::size_t first = 2;
  bool only_new = false, only_known = false;
  for (; first < call.words.size(); ++first) {
    only_new = only_new || call.words[first] == "NX";
    only_known = only_known || call.words[first] == "XX";
    if (call.words[first] != "NX" && call.words[first] != "XX") break;
  }
  if (first == call.words.size() || (call.words.size() - first) % 2 != 0)
    throw CommandError("ERR syntax error");
  if (only_new && only_known)
    throw CommandError("ERR XX and NX options at the same time are not compatible");
  std::vector<double> scores;
  for (std::size_t i = first; i < call.words.size(); i += 2) {
    const auto score = strict_double(call.words[i]);
    if (!score) throw CommandError("ERR value is not a valid float");
    scores.push_back(*score);
  }
  if (only_known && call.keys.find<SortedSet>(call.key()) == nullptr) return Value::of(0);
  SortedSet& set = call.keys.get<SortedSet>(call.key());
  std::int64_t added = 0;
  bool changed = false;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::string& member = call.words[first + 2 * i + 1];
    const auto score = set.score(member);
    if (score ? only_new : only_known) continue;
    changed = changed || score != scores[i];
    added += set.add(member, scores[i]) ? 1 : 0;
  }
  if (changed) call.keys.notify(call.key(), "zadd");
  return Value::of(added);
}

Value run_zrem(const CommandCall& call) {
  SortedSet* set = call.keys.find<SortedSet>(call.key());
  if (set == nullptr) return Value::of(0);
  ++call.keys.written;
  std::int64_t gone = 0;
  for (std::size_t i = 2; i < call.words.size(); ++i) gone += set->remove(call.words[i]) ? 1 : 0;
  if (gone > 0) call.keys.shrunk(call.key(), "zrem");
  return Value::of(gone);
}

Value run_zscore(const CommandCall& call) {
  const SortedSet* set = call.keys.find<SortedSet>(call.key());
  const auto score = set == nullptr ? std::nullopt : set->score(call.words[2]);
  return score ? Value::of(call.keys.score_text(*score)) : Value{};
}

Value run_zmscore(const CommandCall& call) {
  const SortedSet* set = call.keys.find<SortedSet>(call.key());
  std::vector<Value> scores;
  for (std::size_t i = 2; i < call.words.size(); ++i) {
    const auto score = set == nullptr ? std::nullopt : set->score(call.words[i]);
    scores.push_back(score ? Value::of(call.keys.score_text(*score)) : Value{});
  }
  return Value::array(std::move(scores));
}

Value run_zcard(const CommandCall& call) {
  const SortedSet* set = call.keys.find<SortedSet>(call.key());
  return Value::of(set == nullptr ? 0 : static_cast<std::int64_t>(set->size()));
}

Value run_zrank(const CommandCall& call) {
  const SortedSet* set = call.keys.find<SortedSet>(call.key());
  const auto rank = set == nullptr ? std::nullopt : set->rank(call.words[2]);
  return rank ? Value::of(static_cast<std::int64_t>(*rank)) : Value{};
}

bool requests_scores(const CommandCall& call) {
  if (call.words.size() == 4) return false;
  if (call.words.size() == 5 && call.words[4] == "WITHSCORES") return true;
  throw CommandError("ERR the simulation has no model of this form of " + call.words[0]);
}

/// Returns the members of a set, which may be nullptr, between two ranks, both included.
template <typename Each>
std::vector<Scored> by_rank(const CommandCall& call, const SortedSet* set, Each first) {
  const auto range = range_within(integer_word(call.words[2]), integer_word(call.words[3]),
                                  set == nullptr ? 0 : set->size());
  if (!range) return {};
  const auto from = std::next(first, static_cast<std::ptrdiff_t>(range->first));
  return {from, std::next(from, static_cast<std::ptrdiff_t>(range->second - range->first + 1))};
}

Value by_score(const CommandCall& call, bool backwards);

/// ZRANGE by rank, or with BYSCORE REV.
Value run_zrange(const CommandCall& call) {
  if (call.words.size() > 5 && call.words[4] == "BYSCORE" && call.words[5] == "REV")
    return by_score(call, true);
  const bool scores = requests_scores(call);
  const SortedSet* set = call.keys.find<SortedSet>(call.key());
  // Reads the last member from the end.
  if (set != nullptr && call.words[2] == "-1" && call.words[3] == "-1" && set->size() > 0)
    return reply_of(call, {*set->order().rbegin()}, scores);
  static const SortedSet none;
  return reply_of(call, by_rank(call, set, (set == nullptr ? none : *set).order().begin()), scores);
}

Value run_zrevrange(const CommandCall& call) {
  const bool scores = requests_scores(call);
  const SortedSet* set = call.keys.find<SortedSet>(call.key());
  static const SortedSet none;
  return reply_of(call, by_rank(call, set, (set == nullptr ? none : *set).order().rbegin()),
                  scores);
}

Value run_zremrangebyrank(const CommandCall& call) {
  SortedSet* set = call.keys.find<SortedSet>(call.key());
  if (set == nullptr) return Value::of(0);
  ++call.keys.written;
  const std::vector<Scored> found = by_rank(call, set, set->order().begin());
  for (const auto& [score, member] : found) set->remove(member);
  if (!found.empty()) call.keys.shrunk(call.key(), "zremrangebyrank");
  return Value::of(std::ssize(found));
}

Value by_score(const CommandCall& call, bool backwards) {
  bool scores = false;
  std::int64_t skip = 0, most = -1;
  for (std::size_t i = 4; i < call.words.size(); ++i) {
    if (call.words[i] == "WITHSCORES") {
      scores = true;
    } else if (call.words[0] == "ZRANGE" && i < 6) {
      continue;  // BYSCORE REV
    } else if (call.words[i] == "LIMIT" && i + 2 < call.words.size()) {
      skip = integer_word(call.words[i + 1]);
      most = integer_word(call.words[i + 2]);
      i += 2;
    } else {
      throw CommandError("ERR syntax error");
    }
  }
  std::vector<Scored> found = backwards ? between(call, 3, 2) : between(call);
  if (backwards) std::reverse(found.begin(), found.end());
  found.erase(found.begin(),
              found.begin() + std::clamp<std::ptrdiff_t>(skip, 0, std::ssize(found)));
  if (most >= 0 && std::ssize(found) > most) found.resize(static_cast<std::size_t>(most));
  return reply_of(call, found, scores);
}

Value run_zrangebyscore(const CommandCall& call) {
  return by_score(call, false);
}

Value run_zrevrangebyscore(const CommandCall& call) {
  return by_score(call, true);
}

Value run_zcount(const CommandCall& call) {
  const Bound least = Bound::of(call.words[2]), most = Bound::of(call.words[3]);
  const SortedSet* set = call.keys.find<SortedSet>(call.key());
  if (set == nullptr) return Value::of(0);
  std::int64_t count = 0;
  // Counts from the end, because large sets are queried for their highest scores.
  for (auto each = set->order().rbegin(); each != set->order().rend(); ++each) {
    if (!least.below(each->first)) break;
    if (most.above(each->first)) ++count;
  }
  return Value::of(count);
}

Value run_zremrangebyscore(const CommandCall& call) {
  const std::vector<Scored> found = between(call);
  SortedSet* set = call.keys.find<SortedSet>(call.key());
  if (set == nullptr) return Value::of(0);
  ++call.keys.written;
  for (const auto& [score, member] : found) set->remove(member);
  if (!found.empty()) call.keys.shrunk(call.key(), "zremrangebyscore");
  return Value::of(std::ssize(found));
}

Value run_zscan(const CommandCall& call) {
  const SortedSet* set = call.keys.find<SortedSet>(call.key());
  std::vector<std::string> names;
  for (const auto& [score, member] : in_order(call)) names.push_back(member);
  const ScanPage page = scan_page(call, names);
  Words words;
  for (const std::string& name : page.names)
    words.insert(words.end(), {name, call.keys.score_text(*set->score(name))});
  return Value::array({Value::of(page.next), bulk_array(std::move(words))});
}

}  // namespace

std::span<const CommandInfo> sorted_set_commands() {
  static constexpr auto all = std::to_array<CommandInfo>({
      {"ZADD", -4, Effect::grows, run_zadd},
      {"ZREM", -3, Effect::writes, run_zrem},
      {"ZSCORE", 3, Effect::reads, run_zscore},
      {"ZMSCORE", -3, Effect::reads, run_zmscore},
      {"ZCARD", 2, Effect::reads, run_zcard},
      {"ZRANK", 3, Effect::reads, run_zrank},
      {"ZRANGE", -4, Effect::reads, run_zrange},
      {"ZREVRANGE", -4, Effect::reads, run_zrevrange},
      {"ZRANGEBYSCORE", -4, Effect::reads, run_zrangebyscore},
      {"ZREVRANGEBYSCORE", -4, Effect::reads, run_zrevrangebyscore},
      {"ZCOUNT", 4, Effect::reads, run_zcount},
      {"ZREMRANGEBYRANK", 4, Effect::writes, run_zremrangebyrank},
      {"ZREMRANGEBYSCORE", 4, Effect::writes, run_zremrangebyscore},
      {"ZSCAN", -3, Effect::reads, run_zscan},
  });
  return all;
}

}  // namespace w8y::sim
