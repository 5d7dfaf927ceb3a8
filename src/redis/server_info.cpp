#include "redis/server_info.hpp"

#include <charconv>
#include <utility>

namespace w8y::redis {

namespace {

int number_before(std::string_view& text, char end) {
  int number = 0;
  const auto stop = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (text.starts_with(end)) text.remove_prefix(1);
  return number;
}

/// Longer values are truncated, since messages repeat them.
constexpr std::size_t max_value = 64;

void parse_field(ServerInfo& info, std::string_view name, std::string_view value) {
  value = value.substr(0, max_value);
  if (name == "redis_version") {
    info.version = value;
    info.major = number_before(value, '.');
    info.minor = number_before(value, '.');
  } else if (name == "redis_mode") {
    info.mode = value;
  } else if (name == "role") {
    info.role = value;
  } else if (name == "run_id") {
    info.run_id = value;
  } else if (name == "connected_slaves") {
    info.has_replicas = value != "0";
  } else if (name == "min_slaves_good_slaves") {
    info.waits_for_replicas = true;  // shown only if set
  } else if (name == "maxmemory") {
    info.limited_memory = value != "0";
  } else if (name == "maxmemory_policy") {
    info.maxmemory_policy = value;
  } else if (name == "aof_enabled") {
    info.append_only = value == "1";
  }
}

}  // namespace

ServerInfo parse_server_info(std::string_view text) {
  ServerInfo info;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos)
      parse_field(info, line.substr(0, colon), line.substr(colon + 1));
  }
  return info;
}

std::string too_old(const ServerInfo& info, std::string_view where) {
  if (info.version.empty()) return {};
  if (info.major > 6 || (info.major == 6 && info.minor >= 2)) return {};
  return "Redis " + info.version + " at " + std::string(where) +
         " is too old: w8y needs 6.2 or newer (LMOVE)";
}

std::vector<std::string> doubling_risks(const ServerInfo& info, std::string_view where,
                                        bool sentinel) {
  std::vector<std::string> found;
  const std::string server = "Redis at " + std::string(where);
  if (info.limited_memory && !info.maxmemory_policy.empty() &&
      info.maxmemory_policy != "noeviction")
    found.push_back(server + " has maxmemory-policy " + info.maxmemory_policy +
                    ": when its memory is full, it deletes locks and lists; set noeviction");
  if (info.version.empty() && sentinel) {
    found.push_back(
        server +
        " refuses INFO for this user, so w8y cannot check min-replicas-to-write; grant +info");
  } else if (!info.version.empty() && (sentinel || info.has_replicas) && !info.waits_for_replicas &&
             info.role != "slave") {
    found.push_back(
        server +
        " has no min-replicas-to-write: during a network partition, hosts can claim the "
        "same item from two primaries; set min-replicas-to-write 1, which limits that "
        "to min-replicas-max-lag");
  }
  return found;
}

std::vector<std::string> weaknesses(const ServerInfo& info, std::string_view where, bool sentinel) {
  std::vector<std::string> found;
  const std::string server = "Redis at " + std::string(where);
  if (auto old = too_old(info, where); !old.empty()) found.push_back(std::move(old));
  if (info.role == "slave")
    found.push_back(server + " is a replica and accepts no writes; use the primary");
  for (auto& risk : doubling_risks(info, where, sentinel)) found.push_back(std::move(risk));
  if (!info.version.empty() && !info.append_only)
    found.push_back(server +
                    " has no append-only file: a crash loses all changes since the last snapshot, "
                    "or everything without snapshots; set appendonly yes");
  return found;
}

std::string guarantee(const ServerInfo& info) {
  std::string limits;
  const auto limit = [&](const char* words) {
    limits += (limits.empty() ? "" : " and ") + std::string(words);
  };
  if (info.limited_memory && !info.maxmemory_policy.empty() &&
      info.maxmemory_policy != "noeviction")
    limit("as long as Redis has memory to spare");
  if (!info.version.empty() && !info.append_only)
    limit("until Redis crashes (a crash loses all changes since the last snapshot)");
  if (limits.empty()) limits = "as long as Redis keeps its keys and its clock";
  return "guarantee: no item is lost, and no two hosts hold the same item, " + limits;
}

std::string failover_note(const Url& url) {
  if (url.kind != Url::Kind::sentinel && url.kind != Url::Kind::cluster) return {};
  return "replication is asynchronous: a failover can lose the newest writes, such as a lock, "
         "so that its item runs twice; the fencing token identifies late writes";
}

void query_server_info(Client& client, ServerInfoCallback callback) {
  client.call({"INFO"}, [callback = std::move(callback)](const Answer& answer) {
    if (answer.ok()) return callback(parse_server_info(answer.reply.text()), {});
    callback({}, answer.failure == Failure::none ? std::string() : answer.problem());
  });
}

}  // namespace w8y::redis
