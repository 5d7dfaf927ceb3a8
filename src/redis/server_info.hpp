// What kind of server this is, and what about it weakens w8y's promises.
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

/// From the reply to INFO.
ServerInfo parse_server_info(std::string_view info);

/// A sentence if the server is older than 6.2, else empty. `where`: Url::to_string().
std::string too_old(const ServerInfo& info, std::string_view where);
/// One sentence each for what can give an item two holders while Redis works: a policy that evicts,
/// replicas without min-replicas-to-write. `sentinel`: the server was named by Sentinels.
std::vector<std::string> doubling_risks(const ServerInfo& info, std::string_view where,
                                        bool sentinel);
/// These, and one sentence each for an old version, a replica, no persistence.
std::vector<std::string> weaknesses(const ServerInfo& info, std::string_view where, bool sentinel);
/// What a failover may cost, where there can be one; else empty. No weakness of this server.
std::string failover_note(const Url& url);

/// What can be relied on with this server, in one sentence.
std::string guarantee(const ServerInfo& info);

/// `problem` is empty, or says why nobody has answered; a server that keeps INFO from us (an ACL, a
/// renamed command) is one of which nothing is known, and no problem.
using ServerInfoCallback = std::function<void(const ServerInfo& info, const std::string& problem)>;
void ask_server_info(Client& client, ServerInfoCallback callback);

}  // namespace w8y::redis
