#include "operator/key_pages.hpp"

#include <algorithm>
#include <utility>

#include "operator/cursor.hpp"

namespace w8y::verbs {

namespace {

/// Names that one page may read.
constexpr std::size_t names_of_answer = 5000;
/// Names per query if only some match.
constexpr std::size_t names_at_once = 500;

/// Reads a hash or a set. Redis may return more than `count` names. Position: the cursor of the
/// part, and how many of its names were returned.
Phase scanned(redis::SyncClient& client, const char* command, std::string key, std::size_t words) {
  return [&client, command, key = std::move(key), words](const Place& from, std::size_t count) {
    const std::string cursor = from.empty() ? "0" : from[0];
    const std::size_t told = from.empty() ? 0 : static_cast<std::size_t>(cursor_number(from[1]));
    const redis::ReplyCopy reply =
        client.call({command, key, cursor, "COUNT", std::to_string(count)});
    Step step;
    if (reply.elements.size() < 2) return step;
    const auto& found = reply.elements[1].elements;
    for (std::size_t i = 0, n = 1; i + words <= found.size(); i += words, ++n) {
      if (n <= told) continue;
      step.names.push_back(found[i].text);
      step.behind.push_back({cursor, std::to_string(n)});
    }
    step.end = {reply.elements[0].text, "0"};
    step.is_last = reply.elements[0].text == "0";
    return step;
  };
}

}  // namespace

Phase scanned_hash(redis::SyncClient& client, std::string key) {
  return scanned(client, "HSCAN", std::move(key), 2);
}

Phase scanned_set(redis::SyncClient& client, std::string key) {
  return scanned(client, "SSCAN", std::move(key), 1);
}

/// Position: score and name of the last item returned. Many items may have the same score, so they
/// are read by rank, from the current or former rank of that item.
Phase by_score(redis::SyncClient& client, std::string key) {
  return [&client, key = std::move(key)](const Place& from, std::size_t count) {
    std::int64_t first = 0;
    if (!from.empty()) {
      const auto told = client.call_all({{"ZRANK", key, from[1]}, {"ZSCORE", key, from[1]}});
      if (!told[0].is_nil() && told[1].text == from[0]) {
        first = told[0].number + 1;
      } else {  // it was removed, or has another time now
        const redis::ReplyCopy lower = client.call({"ZCOUNT", key, "-inf", "(" + from[0]});
        first = lower.number;
      }
    }
    const std::string begin = std::to_string(first);
    const std::string end = std::to_string(first + static_cast<std::int64_t>(count) - 1);
    const redis::ReplyCopy reply = client.call({"ZRANGE", key, begin, end, "WITHSCORES"});
    Step step;
    for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
      step.names.push_back(reply.elements[i].text);
      step.behind.push_back({reply.elements[i + 1].text, reply.elements[i].text});
    }
    step.end = step.behind.empty() ? from : step.behind.back();
    step.is_last = step.names.size() < count;
    return step;
  };
}

/// Position: distance from the end and name of the last item returned. If that item was claimed, so
/// were all before it.
Phase from_taking_end(redis::SyncClient& client, std::string key) {
  return [&client, key = std::move(key)](const Place& from, std::size_t count) {
    std::int64_t told = 0;
    if (!from.empty()) {
      const std::string most = std::to_string(cursor_number(from[0]));
      const auto place =
          client.call_all({{"LPOS", key, from[1], "RANK", "-1", "MAXLEN", most}, {"LLEN", key}});
      if (place[0].kind == redis::ReplyCopy::Kind::integer)
        told = place[1].number - place[0].number;
    }
    const std::string begin = std::to_string(-told - static_cast<std::int64_t>(count));
    const std::string end = std::to_string(-told - 1);
    const redis::ReplyCopy reply = client.call({"LRANGE", key, begin, end});
    Step step;
    for (auto name = reply.elements.rbegin(); name != reply.elements.rend(); ++name) {
      step.names.push_back(name->text);
      step.behind.push_back({std::to_string(++told), name->text});
    }
    step.end = step.behind.empty() ? from : step.behind.back();
    step.is_last = step.names.size() < count;
    return step;
  };
}

void walk(ItemsPage& page, const std::vector<Phase>& phases, const PageRequest& part,
          const Choose& choose) {
  const auto fields = read_cursor(part.after, "walk", 3);
  std::size_t phase = fields.empty() ? 0 : static_cast<std::size_t>(cursor_number(fields[0]));
  Place from;
  if (!fields.empty() && !(fields[1].empty() && fields[2].empty())) from = {fields[1], fields[2]};
  const auto stop_at = [&page](std::size_t at, const Place& place) {
    page.next = make_cursor(
        {"walk", std::to_string(at), place.empty() ? "" : place[0], place.empty() ? "" : place[1]});
  };
  for (std::size_t looked = 0; phase < phases.size();) {
    const Step step = phases[phase](from, std::clamp(part.limit, names_at_once, names_of_answer));
    auto chosen = choose(phase, step);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (!chosen[i]) continue;
      if (page.items.size() == part.limit)
        return stop_at(phase, i == 0 ? from : step.behind[i - 1]);
      page.items.push_back(std::move(*chosen[i]));
    }
    looked += step.names.size();
    from = step.end;
    if (step.is_last) {
      ++phase;
      from.clear();
    }
    if (looked >= names_of_answer && phase < phases.size()) return stop_at(phase, from);
  }
}

}  // namespace w8y::verbs
