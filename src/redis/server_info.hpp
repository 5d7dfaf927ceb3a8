// Type of a server, and the settings that weaken the guarantees of w8y.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/client.hpp"

namespace w8y::redis {

struct ServerInfo {
  std::string version;  ///< "7.0.15"; empty: not known
  int major = 0;
  int minor = 0;
  std::string mode;    ///< standalone, sentinel, cluster
  std::string role;    ///< master, slave
  std::string run_id;  ///< of this process
  bool has_replicas = false;
  bool waits_for_replicas = false;  ///< min-replicas-to-write is set
  std::string maxmemory_policy;
  bool limited_memory = false;  ///< maxmemory is set
  bool append_only = false;
};

/// Parses the reply to INFO.
ServerInfo parse_server_info(std::string_view info);

/// Returns a sentence if the server is older than 6.2, else empty. `where` is Url::to_string().
std::string too_old(const ServerInfo& info, std::string_view where);
/// Returns a sentence for each setting that can give an item two holders while Redis works: a
/// policy that evicts keys, replicas without min-replicas-to-write. `sentinel` – Sentinels named
/// the server.
std::vector<std::string> doubling_risks(const ServerInfo& info, std::string_view where,
                                        bool sentinel);
/// Returns doubling_risks(), and a sentence each for an old version, a replica, and no persistence.
std::vector<std::string> weaknesses(const ServerInfo& info, std::string_view where, bool sentinel);
/// Returns a sentence about the cost of a failover, if the URL allows a failover, else empty. It is
/// not a weakness of this server.
std::string failover_note(const Url& url);

/// Returns a sentence about the guarantees of this server.
std::string guarantee(const ServerInfo& info);

/// Receives the result of query_server_info(). `problem` is empty, or the reason why there is no
/// reply. A server that refuses INFO (ACL, renamed command) gives an empty `info` and no problem.
using ServerInfoCallback = std::function<void(const ServerInfo& info, const std::string& problem)>;
void query_server_info(Client& client, ServerInfoCallback callback);

}  // namespace w8y::redis
