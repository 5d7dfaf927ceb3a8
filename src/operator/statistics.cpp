#include "operator/statistics.hpp"

#include <algorithm>
#include <utility>

#include "operator/lists.hpp"
#include "operator/stored.hpp"
#include "store/fleet/keys.hpp"

namespace w8y::verbs {

namespace {

/// Maximum number of fields to read: other clients may have added any number.
constexpr std::size_t max_fields = 10'000;
/// Maximum length of a bucket. A bucket of w8yd is shorter.
constexpr std::size_t max_bucket = 1024;

/// Returns the current time of Redis with an empty bucket for each part of the span.
view::Statistics empty_statistics(const QueryContext& query, const store::FleetKeys& keys,
                                  const std::optional<std::string>& list, const view::Span& span) {
  view::Statistics found;
  found.list = list;
  found.span = span;
  // The key goes first: in a cluster, TIME is then sent to its node.
  const auto time = query.redis.call_all({{"ZCARD", keys.marks}, {"TIME"}});
  found.now = redis::server_time(time[1]);
  const std::int64_t minute = std::chrono::floor<std::chrono::minutes>(found.now).count();
  const std::int64_t newest = minute - minute % span.length;
  for (std::int64_t back = span.buckets - 1; back >= 0; --back)
    found.buckets.emplace_back().at = std::chrono::minutes(newest - back * span.length);
  return found;
}

void read_buckets(const QueryContext& query, const std::string& key, view::Statistics& into) {
  const WallTime length = std::chrono::minutes(into.span.length);
  const auto add = [&](const std::string& field, const std::string& text) {
    if (!field.starts_with(into.span.field) || text.size() > max_bucket) return;
    auto bucket = view::read_bucket(text);
    if (!bucket || bucket->at < into.buckets.front().at) return;
    const auto at = static_cast<std::size_t>((bucket->at - into.buckets.front().at) / length);
    if (at < into.buckets.size() && into.buckets[at].at == bucket->at)
      into.buckets[at] = std::move(*bucket);
  };
  std::size_t read = 0;
  scan(query.redis, "HSCAN", key, "1000", [&](const redis::ReplyCopy* pair) {
    add(pair[0].text, pair[1].text);
    return ++read < max_fields;
  });
}

void read_marks(const QueryContext& query, const store::FleetKeys& keys, view::Statistics& into) {
  const std::string first = std::to_string(into.buckets.front().at.count());
  const std::string most = std::to_string(view::max_marks);
  const redis::ReplyCopy texts =
      query.redis.call({"ZRANGE", keys.marks, "+inf", first, "BYSCORE", "REV", "LIMIT", "0", most});
  for (const redis::ReplyCopy& text : texts.elements) {
    auto mark = view::read_mark(text.text);
    if (!mark || mark->at < into.buckets.front().at || mark->at > into.now) continue;
    if (into.list && mark->list && *mark->list != *into.list) continue;
    into.marks.push_back(std::move(*mark));
  }
  std::stable_sort(into.marks.begin(), into.marks.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
}

}  // namespace

view::Statistics read_statistics(QueryContext& query, const std::optional<std::string>& list,
                                 const view::Span& span) {
  if (list) check_known(query, *list);
  const store::FleetKeys keys(query.fleet);
  view::Statistics found = empty_statistics(query, keys, list, span);
  read_buckets(query, keys.series(list), found);
  read_marks(query, keys, found);
  return found;
}

}  // namespace w8y::verbs
