#include "operator/feeds.hpp"

#include <array>

#include "core/escape.hpp"
#include "store/scripts.hpp"

namespace w8y::verbs {

namespace scripts = store::scripts;

namespace {

/// Old items that one call drops.
constexpr const char* dropped_at_once = "1000";

/// Returns the argument of sorted_insert.lua and sorted_move.lua.
std::string_view word_of(FeedPosition::Where where, bool insert) {
  constexpr std::array moving = {"begin", "end", "before", "after"};
  constexpr std::array inserting = {"prepend", "append", "before", "after"};
  return (insert ? inserting : moving).at(static_cast<std::size_t>(where));
}

std::string position_text(const FeedPosition& position) {
  switch (position.where) {
    case FeedPosition::Where::begin:
      return "begin:";
    case FeedPosition::Where::end:
      return ":end";
    case FeedPosition::Where::before:
      return ":" + position.id;
    case FeedPosition::Where::after:
      break;
  }
  return position.id + ":";
}

FeedRefused position_gone(const FeedPosition& position, const std::string& feed) {
  return FeedRefused("cannot put the item " + std::string(word_of(position.where, false)) + " " +
                     escape_text(position.id) + ", which is not in the feed " + escape_text(feed));
}

bool is_gone(const redis::RedisError& error) {
  return std::string_view(error.what()).starts_with("GONE");
}

}  // namespace

std::vector<bool> RetractingFeed::retract(const std::vector<std::string>& ids) {
  std::vector<bool> done;
  const auto send = [&](std::span<const std::string> part) {
    redis::Command arguments = {keys().feed, kind_name(kind()), keys().retract_channel};
    arguments.insert(arguments.end(), part.begin(), part.end());
    const redis::ReplyCopy told =
        run(scripts::feed_retract, {keys().config, keys().ids, keys().items}, arguments);
    for (const auto& each : told.elements) done.push_back(each.number == 1);
  };
  each_part(ids, send, kind() == FeedKind::sorted_feed ? walks_of_part : items_of_part);
  done.resize(ids.size());
  return done;
}

/// If many items exceed max_length, they are dropped in steps before the first item is published.
void Feed::publish(const std::vector<FeedItem>& items) {
  each_part(items, [this](std::span<const FeedItem> part) {
    while (!part.empty()) part = part.subspan(publish_part(part));
  });
}

std::size_t Feed::publish_part(std::span<const FeedItem> items) {
  redis::Command arguments = {keys().feed, keys().publish_channel, keys().edit_channel,
                              keys().retract_channel, dropped_at_once};
  for (const auto& [id, item] : items) arguments.insert(arguments.end(), {id, item});
  const redis::ReplyCopy told =
      run(scripts::feed_publish, {keys().config, keys().ids, keys().items, keys().publishes},
          arguments);
  two_units_ = two_units_ || (told.elements.size() > 1 && told.elements[1].number == 1);
  if (told.elements.empty()) return items.size();
  return std::min(items.size(), static_cast<std::size_t>(told.elements[0].number));
}

std::vector<std::string> SortedFeed::insert(const FeedPosition& at,
                                            const std::vector<std::string>& items) {
  std::vector<std::string> ids;
  const auto send = [&](std::span<const std::string> part) {
    redis::Command arguments = {keys().feed, keys().publish_channel, keys().position_channel,
                                word_of(at.where, true), at.id};
    arguments.insert(arguments.end(), part.begin(), part.end());
    redis::ReplyCopy told =
        run(scripts::sorted_insert,
            {keys().config, keys().ids, keys().items, keys().publishes, keys().idincr}, arguments);
    for (auto& id : told.elements) ids.push_back(std::move(id.text));
  };
  try {
    each_part(items, send, at.id.empty() ? items_of_part : walks_of_part);
  } catch (const redis::RedisError& error) {
    if (is_gone(error)) throw position_gone(at, keys().feed);
    throw;
  }
  return ids;
}

bool SortedFeed::edit(const std::string& id, const std::string& item) {
  return run(scripts::sorted_edit, {keys().config, keys().items, keys().publishes},
             {keys().feed, keys().publish_channel, id, item})
             .number == 1;
}

bool SortedFeed::move(const FeedPosition& to, const std::string& id) {
  const bool relative =
      to.where == FeedPosition::Where::before || to.where == FeedPosition::Where::after;
  if (relative && to.id == id)
    throw FeedRefused(escape_text(id) + " cannot be moved " +
                      std::string(word_of(to.where, false)) + " itself");
  const std::string told = position_text(to);
  try {
    return run(scripts::sorted_move, {keys().config, keys().ids, keys().items},
               {keys().feed, keys().position_channel, id, word_of(to.where, false), to.id, told})
               .number == 1;
  } catch (const redis::RedisError& error) {
    if (is_gone(error)) throw position_gone(to, keys().feed);
    throw;
  }
}

}  // namespace w8y::verbs
