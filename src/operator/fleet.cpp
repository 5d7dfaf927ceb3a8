#include "operator/fleet.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/escape.hpp"
#include "core/number.hpp"
#include "operator/cursor.hpp"
#include "store/circular/keys.hpp"
#include "store/fleet/reader.hpp"
#include "view/fleet_problems.hpp"
#include "view/host_view.hpp"
#include "view/list_view.hpp"

namespace w8y::verbs {

namespace {

using redis::ReplyCopy;

constexpr const char* reports_at_once = "500";
/// Bytes to read of the list reports of one host, and of all hosts for one response. Reports that
/// cannot be parsed count as well, but add nothing to the response.
constexpr std::size_t max_read_of_host = std::size_t{16} << 20;
constexpr std::size_t max_read = std::size_t{32} << 20;
/// Hosts per query for one list.
constexpr std::size_t hosts_at_once = 50;
constexpr const char* buckets_at_once = "1000";
/// Limits of details for the page: rows and bytes of one host, and bytes of several hosts in one
/// step.
constexpr std::size_t max_rows_of_host = 10'000;
constexpr std::size_t max_row_bytes = std::size_t{2} << 20;
constexpr std::size_t max_detail_bytes = std::size_t{1} << 20;

constexpr const char* unreadable = "some of its list reports cannot be read";

/// Returns why there was no reply. If the reply was too large, the connection was lost, and is
/// established again; any other error is thrown again.
std::string error_of(const QueryContext& query, const redis::RedisError& error) {
  const bool lost = error.code() == redis::ErrorCode::none;
  if (lost && (query.redis.client().connected() || !query.redis.reconnect())) throw error;
  return "its lists cannot be read: " + std::string(error.what()).substr(0, 200);
}

std::optional<ListStatus> readable(FleetHost& host, const std::string& prefix,
                                   const std::string& text) {
  auto list = view::read_report(prefix, text);
  if (!list) host.lists_error = unreadable;
  return list;
}

// ---- one list

/// Escapes text so that a Redis pattern matches it literally.
std::string literal(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

struct Search {
  FleetHost* host;
  std::string key;
  std::string cursor = "0";
};

/// Processes one reply. True: the search in this host has ended.
bool add_found(Search& search, const ReplyCopy& reply, const std::string& prefix) {
  FleetHost& host = *search.host;
  if (reply.is_error() || reply.elements.size() != 2) {
    host.lists_error = "its lists cannot be read: " + reply.text.substr(0, 200);
    return true;
  }
  const auto& fields = reply.elements[1].elements;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i].text != prefix) continue;
    if (auto list = readable(host, prefix, fields[i + 1].text))
      host.lists.push_back(std::move(*list));
    return true;
  }
  search.cursor = reply.elements[0].text;
  return search.cursor == "0";
}

/// Uses HSCAN instead of HGET, since it is the only command that reads a hash and has a permission
/// for the fleet's keys.
void find_in(const QueryContext& query, std::vector<Search> open, const std::string& prefix) {
  const std::string pattern = literal(prefix);
  while (!open.empty()) {
    std::vector<redis::Command> commands;
    for (const Search& search : open)
      commands.push_back(
          {"HSCAN", search.key, search.cursor, "MATCH", pattern, "COUNT", buckets_at_once});
    const std::vector<ReplyCopy> replies = query.redis.pipeline(commands);
    std::size_t reply = 0;
    std::erase_if(open,
                  [&](Search& search) { return add_found(search, replies[reply++], prefix); });
  }
}

void find_list(const QueryContext& query, std::span<FleetHost> hosts, const std::string& prefix) {
  const store::FleetKeys keys(query.fleet);
  while (!hosts.empty()) {
    const auto some = hosts.first(std::min(hosts.size(), hosts_at_once));
    hosts = hosts.subspan(some.size());
    std::vector<Search> open;
    for (FleetHost& host : some)
      if (host.error.empty()) open.push_back({&host, keys.lists(host.heartbeat.id)});
    try {
      find_in(query, open, prefix);
    } catch (const redis::RedisError& error) {
      const std::string trouble = error_of(query, error);
      for (const Search& search : open)
        if (search.host->lists.empty()) search.host->lists_error = trouble;
    }
  }
}

// ---- pages

/// Reads all lists of the host, and returns how many bytes were read for it.
std::size_t read_lists(const QueryContext& query, FleetHost& host) {
  std::size_t bytes = 0;
  const std::size_t read =
      each_report(query, host, [&](const std::string& prefix, const std::string& text) {
        auto list = readable(host, prefix, text);
        if (!list) return true;
        bytes += std::max(prefix.size() + text.size(), sizeof(ListStatus));
        if (bytes >= max_host_bytes) return false;
        host.lists.push_back(std::move(*list));
        return true;
      });
  std::ranges::sort(host.lists, {}, &ListStatus::prefix);
  const auto same = [](const auto& a, const auto& b) { return a.prefix == b.prefix; };
  host.lists.erase(std::unique(host.lists.begin(), host.lists.end(), same), host.lists.end());
  return read;
}

/// Sort key of hosts.
auto place_of(const FleetHost& host) {
  return std::tuple(std::string_view(host.heartbeat.host), host.heartbeat.started.count(),
                    std::string_view(host.heartbeat.id));
}

std::string cursor_at(const FleetHost& host) {
  return make_cursor({"fleet", host.heartbeat.host, std::to_string(host.heartbeat.started.count()),
                      host.heartbeat.id});
}

std::span<FleetHost> part_of(std::span<FleetHost> hosts, const PageRequest& part) {
  const auto fields = read_cursor(part.after, "fleet", 3);
  if (!fields.empty()) {
    const std::tuple<std::string_view, std::int64_t, std::string_view> after(
        fields[0], cursor_number(fields[1]), fields[2]);
    const auto first = std::ranges::upper_bound(hosts, after, {}, place_of);
    hosts = hosts.subspan(static_cast<std::size_t>(first - hosts.begin()));
  }
  return hosts;
}

// ---- details

std::vector<std::pair<std::string, std::string>> rows_of(const QueryContext& query,
                                                         const std::string& id) {
  FleetHost host;
  host.heartbeat.id = id;
  std::vector<std::pair<std::string, std::string>> rows;
  std::size_t bytes = 0;
  each_report(query, host, [&](const std::string& prefix, const std::string& text) {
    const auto list = readable(host, prefix, text);
    if (!list || prefix.size() > max_heartbeat) return true;
    rows.emplace_back(prefix, view::to_json(*list, view::fleet_page));
    bytes += prefix.size() + rows.back().second.size();
    return rows.size() < max_rows_of_host && bytes < max_row_bytes;
  });
  return rows;
}

std::vector<std::pair<std::int64_t, std::string>> minutes_of(const QueryContext& query,
                                                             const std::string& id,
                                                             std::int64_t last) {
  const store::FleetKeys keys(query.fleet);
  // The key goes first: in a cluster, TIME is then sent to its node.
  const auto time = query.redis.pipeline({{"ZCARD", keys.hosts}, {"TIME"}});
  if (time[1].elements.size() != 2) return {};
  const std::int64_t newest = time[1].elements[0].number / 60;
  last = std::clamp<std::int64_t>(last, 1, store::FleetKeys::minutes_kept);
  // Reads a value only up to the maximum length, to detect a longer one.
  const std::string end = std::to_string(store::FleetKeys::max_minute);
  std::vector<std::string> names;
  for (std::int64_t minute = newest - last + 1; minute <= newest; ++minute)
    names.push_back(keys.minute(id, minute));
  std::vector<redis::Command> commands;
  for (const std::string& name : names) commands.push_back({"GETRANGE", name, "0", end});
  std::vector<std::pair<std::int64_t, std::string>> minutes;
  for (const ReplyCopy& reply : query.redis.pipeline(commands)) {
    if (reply.is_error() || reply.text.size() > store::FleetKeys::max_minute) continue;
    const auto json = view::JsonFields::parse(reply.text);
    if (!json) continue;
    if (const auto minute = json->integer("minute", ms_range))
      minutes.emplace_back(*minute, json->whole());
  }
  return minutes;
}

}  // namespace

FleetView fleet_hosts(const QueryContext& query) {
  store::FleetReader reader(query.redis.loop(), query.redis.client(), query.fleet);
  store::FleetReader::ViewPtr seen;
  reader.read([&seen](const store::FleetReader::ViewPtr& view) { seen = view; });
  query.redis.wait_until([&seen] { return seen != nullptr; });
  if (!seen->error.empty()) throw QueryError(seen->unreachable ? 503 : 409, seen->error);
  return *seen;
}

FleetView hosts_of_list(const QueryContext& query, const std::string& list) {
  FleetView view = fleet_hosts(query);
  find_list(query, view.hosts, list);
  return view;
}

namespace {

/// Maximum number of lists of other hosts whose quarantined items are counted.
constexpr std::size_t max_counted = 1000;

/// Counts the quarantined items of lists that this host does not have.
void count_quarantined(const QueryContext& query, FleetLists& all) {
  std::vector<ListTotals*> lists;
  std::vector<std::string> keys;
  for (auto& [prefix, list] : all.lists) {
    if (lists.size() == max_counted) break;
    if (query.lists != nullptr && query.lists->contains(prefix)) continue;
    lists.push_back(&list);
    keys.push_back(store::CircularKeys(prefix.empty() ? "" : prefix + ":").quarantined);
  }
  // In a cluster, the keys of a pipeline must share a hash slot.
  const std::size_t at_once = query.cluster() ? 1 : max_counted;
  for (std::size_t first = 0; first < keys.size(); first += at_once) {
    std::vector<redis::Command> commands;
    for (std::size_t i = first; i < std::min(keys.size(), first + at_once); ++i)
      commands.push_back({"HLEN", keys[i]});
    const std::vector<ReplyCopy> replies = query.redis.pipeline(commands);
    for (std::size_t i = 0; i < replies.size(); ++i)
      if (replies[i].kind == ReplyCopy::Kind::integer)
        lists[first + i]->quarantined = static_cast<std::uint64_t>(replies[i].number);
  }
}

}  // namespace

FleetLists fleet_lists(const QueryContext& query, const std::string& own,
                       const std::optional<std::string>& list) {
  FleetView view = fleet_hosts(query);
  std::erase_if(view.hosts, [&own](const FleetHost& host) {
    return host.unresponsive || !host.error.empty() || host.heartbeat.id == own;
  });
  if (list) find_list(query, view.hosts, *list);
  FleetLists all;
  std::size_t read = 0;
  for (FleetHost& host : view.hosts) {
    const HostHeartbeat& heartbeat = host.heartbeat;
    const auto state = host_state(heartbeat.state);
    ++all.states[state ? state_name(*state) : "unknown"];
    all.slots_used += heartbeat.slots_used;
    all.slots_limit += heartbeat.slots_limit;
    all.unlimited = all.unlimited || heartbeat.slots_limit == 0;
    const bool fits = read < max_read;
    if (!list && fits) read += read_lists(query, host);
    if (!fits || !host.lists_error.empty()) ++all.omitted;
    for (const ListStatus& each : std::exchange(host.lists, {}))
      all.lists[each.prefix].add(heartbeat.host, each);
  }
  count_quarantined(query, all);
  return all;
}

std::vector<Problem> fleet_problems(const QueryContext& query) {
  FleetWalk walk(query, {true, {}, {}, {std::numeric_limits<std::size_t>::max(), {}}});
  FleetProblems problems(walk.fleet().now);
  while (const auto host = walk.next()) problems.add(*host);
  return problems.drain();
}

void forget_host(const QueryContext& query, const std::string& name) {
  const store::FleetKeys keys(query.fleet);
  redis::Command remove{"ZREM", keys.hosts};
  const FleetView fleet = fleet_hosts(query);
  for (const FleetHost& host : fleet.hosts) {
    if (host.heartbeat.host != name) continue;
    if (!host.unresponsive)
      throw QueryError(409, "host " + escape_text(name) +
                                " sends heartbeats; stop it first: w8yctl drain --host " +
                                escape_text(name));
    remove.push_back(host.heartbeat.id);
  }
  if (remove.size() == 2)
    throw QueryError(404, "there is no host " + escape_text(name) + " in the fleet");
  redis::checked(query.redis.call(remove));
}

FleetWalk::FleetWalk(const QueryContext& query, FleetWish wish)
    : query_(query),
      wish_(std::move(wish)),
      fleet_(fleet_hosts(query)),
      all_(std::exchange(fleet_.hosts, {})) {
  if (wish_.host)
    std::erase_if(all_,
                  [this](const FleetHost& host) { return host.heartbeat.host != *wish_.host; });
  hosts_ = part_of(all_, wish_.part);
  if (wish_.list)
    find_list(query, hosts_.first(std::min(hosts_.size(), wish_.part.limit)), *wish_.list);
}

std::optional<FleetHost> FleetWalk::next() {
  if (count_ == std::min(hosts_.size(), wish_.part.limit) || read_ >= max_read) return std::nullopt;
  FleetHost host = hosts_[count_++];
  if (wish_.lists && !wish_.list && host.error.empty() && !host.expired)
    read_ += read_lists(query_, host);
  return host;
}

std::string FleetWalk::cursor() const {
  return count_ > 0 && count_ < hosts_.size() ? cursor_at(hosts_[count_ - 1]) : std::string();
}

std::vector<view::HostDetails> host_details(const QueryContext& query,
                                            const std::vector<view::HostWish>& wishes) {
  std::vector<view::HostDetails> all;
  std::size_t bytes = 0;
  for (const view::HostWish& wish : wishes) {
    view::HostDetails& host = all.emplace_back();
    host.id = wish.id;
    if (wish.rows) host.rows = rows_of(query, wish.id);
    if (wish.minutes > 0) host.minutes = minutes_of(query, wish.id, wish.minutes);
    for (const auto& [prefix, row] : host.rows) bytes += row.size();
    for (const auto& [minute, text] : host.minutes) bytes += text.size();
    if (bytes > max_detail_bytes) break;
  }
  return all;
}

std::size_t each_report(const QueryContext& query, FleetHost& host, const TakeReport& take) {
  const std::string key = store::FleetKeys(query.fleet).lists(host.heartbeat.id);
  std::string cursor = "0";
  std::size_t read = 0;
  const auto cut = [&host, &read] {
    truncate_lists(host);
    return read;
  };
  try {
    do {
      const ReplyCopy reply = query.redis.call({"HSCAN", key, cursor, "COUNT", reports_at_once});
      if (reply.elements.size() != 2) return read;
      const auto& fields = reply.elements[1].elements;
      for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
        read += fields[i].text.size() + fields[i + 1].text.size();
        if (!take(fields[i].text, fields[i + 1].text)) return cut();
      }
      cursor = reply.elements[0].text;
      if (cursor != "0" && read > max_read_of_host) return cut();
    } while (cursor != "0");
  } catch (const redis::RedisError& error) {
    host.lists_error = error_of(query, error);
  }
  return read;
}

}  // namespace w8y::verbs
