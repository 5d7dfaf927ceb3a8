// Comparison of scripts of operators and users that no world runs: queries of lists and items, and
// feeds of other kinds than jobs.
#include "simulation/comparison.hpp"
#include "store/scripts.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::sim {

namespace {

const store::FeedKeys& news() {
  static const store::FeedKeys keys("feed_of_news");
  return keys;
}

const store::FeedKeys& sorted() {
  static const store::FeedKeys keys("feed_in_order");
  return keys;
}

/// Rounds remaining lifetimes, so that the scripts get the same from both clocks. Removes digests,
/// which the model does not have.
constexpr const char* whole_units = R"(
local given = redis
local redis = {pcall = given.pcall, error_reply = given.error_reply,
  sha1hex = function() return '' end,
  call = function(name, ...)
    local answer = given.call(name, ...)
    if name ~= 'PTTL' or answer < 0 then return answer end
    return math.floor((answer + 5e5) / 1e6) * 1e6
  end}
)";

}  // namespace

void Comparison::lua_in_units(const redis::Script& script, const Words& key, const Words& arg) {
  static std::map<std::string_view, std::string> texts, digests;
  std::string& text = texts[script.name];
  std::string& digest = digests[script.name];
  if (text.empty()) {
    text = whole_units + std::string(script.text);
    digest = "in units: " + std::string(script.name);
  }
  redis::Script changed = script;
  changed.text = text;
  changed.sha1 = digest;
  lua(changed, key, arg, no_time);
}

/// Runs a query of the circular list.
void Comparison::query_step() {
  const auto some = [this] { return std::to_string(of_looks_.between(0, 12)); };
  switch (of_looks_.below(6)) {
    case 0:
    case 1:
      return lua_in_units(
          store::scripts::list_stats,
          {"w:list", "w:samples", "w:quarantined", "w:list", "w:more", "w:quarantined"},
          {of_looks_.one_of<std::string>({"5", "512"}), ms(3), "1024", "w:lock:", "w:proc:"});
    case 2: {
      Words key{"w:failures", "w:quarantined"}, arg{of_looks_.chance(70) ? "4096" : "6"};
      for (auto left = of_looks_.between(1, 4); left > 0; --left) {
        arg.push_back("item" + std::to_string(of_looks_.below(14)));
        key.push_back(lock(arg.back()));
      }
      return lua_in_units(store::scripts::item_states, key, arg);
    }
    case 3:
      return lua_in_units(
          store::scripts::items_page, {"w:list", "w:failures", "w:quarantined"},
          {of_looks_.chance(30) ? "-3" : some(), some(), of_looks_.chance(80) ? "1000" : "12",
           of_looks_.one_of<std::string>({"4", "5", "100"}), "20",
           of_looks_.chance(80) ? "w:lock:" : ""});
    case 4:
      return lua_in_units(store::scripts::quarantine_page, {"w:quarantined"},
                          {"0", "100", of_looks_.chance(80) ? "4096" : "5", "12"});
    default: {
      if (of_looks_.chance(60)) return;
      const auto which = of_looks_.one_of<std::string>(
          {" resting quarantined ", " free ", " running ", std::to_string(runs_)});
      return lua_in_units(
          store::scripts::change_long_items, {"w:list", "w:failures", "w:quarantined"},
          {some(), some(), "1000", "0",
           "w:lock:", "w:proc:", of_looks_.one_of<std::string>({"remove", "release", "quarantine"}),
           which, "5", "w:wake", R"({"by":"an operator"})"});
    }
  }
}

std::string Comparison::news_id() {
  return of_looks_.chance(95) ? std::to_string(1 + of_looks_.below(9)) : "one \xFF";
}

void Comparison::news_step() {
  const auto& keys = news();
  Words arg{keys.feed, keys.publish_channel, keys.edit_channel, keys.retract_channel,
            of_looks_.one_of<std::string>({"1", "100"})};
  switch (of_looks_.below(8)) {
    case 0:
      if (of_looks_.chance(80)) return;
      both({"ZADD", keys.ids, of_looks_.chance(50) ? "1800000000" : "1800000000000", news_id()});
      return;
    case 1:
      both({"HSET", keys.config, "max_length",
            of_looks_.one_of<std::string>({"0", "3", "6", "many"})});
      return;
    case 2:
      return lua(store::scripts::feed_create, {keys.config, "feeds"},
                 {keys.feed, "feed", "", "an instance"}, no_time);
    case 3:
    case 4: {
      arg = {keys.feed, "feed", keys.retract_channel, news_id(), news_id()};
      return lua(store::scripts::feed_retract, {keys.config, keys.ids, keys.items}, arg, no_time);
    }
    default:
      for (auto left = of_looks_.between(1, 3); left > 0; --left)
        arg.insert(arg.end(), {news_id(), "what is new"});
      return lua(store::scripts::feed_publish,
                 {keys.config, keys.ids, keys.items, keys.publishes, "feeds"}, arg, no_time);
  }
}

void Comparison::sorted_step() {
  const auto& keys = sorted();
  const std::string other = news_id();
  const auto at = of_looks_.below(4);
  switch (of_looks_.below(8)) {
    case 0:
      return lua(store::scripts::feed_create, {keys.config, "feeds"},
                 {keys.feed, "sorted_feed", "", "an instance"}, no_time);
    case 1:
      if (of_looks_.chance(80)) return;
      both({"DEL", of_looks_.chance(50) ? keys.idincr : keys.publishes});
      return;
    case 2:
      return lua(store::scripts::feed_retract, {keys.config, keys.ids, keys.items},
                 {keys.feed, "sorted_feed", keys.retract_channel, news_id(), news_id()}, no_time);
    case 3:
      return lua(store::scripts::sorted_edit, {keys.config, keys.items, keys.publishes, "feeds"},
                 {keys.feed, keys.publish_channel, news_id(), "another"}, no_time);
    case 4:
    case 5: {
      const std::string where = Words{"begin", "end", "before", "after"}[at];
      const std::string told = Words{"begin:", ":end", ":" + other, other + ":"}[at];
      std::string id = news_id();
      if (id == other) id = "no such id";
      return lua(store::scripts::sorted_move, {keys.config, keys.ids, keys.items, "feeds"},
                 {keys.feed, keys.position_channel, id, where, other, told}, no_time);
    }
    default: {
      Words arg{keys.feed, keys.publish_channel, keys.position_channel,
                Words{"append", "prepend", "before", "after"}[at], other};
      for (auto left = of_looks_.between(1, 3); left > 0; --left) arg.emplace_back("an item");
      return lua(store::scripts::sorted_insert,
                 {keys.config, keys.ids, keys.items, keys.publishes, keys.idincr}, arg, no_time);
    }
  }
}

void Comparison::feed_step() {
  const store::FeedKeys jobs("feed");
  const auto dice = of_looks_.below(100);
  if (dice < 48) return news_step();
  if (dice < 96) return sorted_step();
  lua(store::scripts::feed_leases, {jobs.claimed}, {jobs.lease_prefix, "j1", "j2"}, no_time);
}

Words Comparison::feed_channels() {
  Words all;
  for (const store::FeedKeys* keys : {&news(), &sorted()})
    for (const std::string* each : {&keys->publish_channel, &keys->edit_channel,
                                    &keys->retract_channel, &keys->position_channel})
      all.push_back(*each);
  return all;
}

}  // namespace w8y::sim
