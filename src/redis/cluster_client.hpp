// Client of a cluster: sends each command to the primary of its hash slot, and follows the slot
// when it moves.
#pragma once

#include <bitset>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/timers.hpp"
#include "redis/client.hpp"
#include "redis/cluster_call.hpp"
#include "redis/cluster_node.hpp"
#include "redis/cluster_view.hpp"
#include "redis/hash_slot_queue.hpp"

namespace w8y::redis {

/// Client that is up while reachable nodes serve all hash slots used so far. Commands of one hash
/// slot keep their order, also when they are sent again: after MOVED and ASK a limited number of
/// times, after TRYAGAIN until command_timeout. Every other reply of a node, and the failure of a
/// node, goes to the caller, as with one server.
class ClusterClient final : public Client {
 public:
  ClusterClient(loop::Loop& loop, ClientOptions options);

  using Client::call;
  void call(const Command& command, Callback callback) override;
  void call_both(const Command& first, Callback of_first, const Command& second,
                 Callback of_second) override;
  void run(const Script& script, const Command& keys, const Command& args,
           Callback callback) override;
  [[nodiscard]] bool connected() const override { return up_; }
  [[nodiscard]] const std::string& error() const override { return error_; }
  [[nodiscard]] std::uint64_t commands_sent() const override;
  [[nodiscard]] std::size_t unsent() const override;
  void reconnect_now() override;
  void listen_to_nodes(NodeListener* listener) override;
  [[nodiscard]] Client* node_of(std::string_view key) override;

 private:
  using Call = HashSlotQueue::Call;

  Call make_call(const Command& command, Callback callback);
  void into_transaction(const Command& command, Callback callback);
  void submit(Call call);
  void pump(Slot slot);
  ClusterNode* node_for(const ClusterCall& call, std::string& why);
  ClusterNode& node_at(const HostPort& place);
  void send(const Call& call, ClusterNode& node);
  void send_script(const Call& call, ClusterNode& node, Callback callback);
  void on_reply(const Call& call, std::size_t part, ClusterNode& node, const Answer& answer);
  void classify_error(const ClusterCall& call, ClusterNode& node, const Answer& answer);
  void refuse(const Call& call, const std::string& why);
  void answer_refused();

  void refreshed(const std::string& problem);
  void assess();
  std::string find_error(bool& connecting);
  void check_refusals();
  [[nodiscard]] HostPort server_of(Slot slot) const;
  void compare_slots();
  void sweep_nodes();
  void notify_down(const std::string& why);

  loop::Loop& loop_;
  const ClientOptions options_;
  std::map<HostPort, std::unique_ptr<ClusterNode>> nodes_;  ///< nodes in use
  std::uint64_t retired_sent_ = 0;                 ///< commands sent by nodes that were removed
  std::unordered_map<Slot, HashSlotQueue> lanes_;  ///< of hash slots with calls
  std::bitset<slot_count> used_;
  std::vector<Slot> used_slots_;
  std::vector<HostPort> servers_;  ///< their primaries when compare_slots() was called last
  NodeListener* node_listener_ = nullptr;
  Slot last_slot_ = 0;         ///< a command without a key follows the command before it
  std::uint64_t queried_ = 0;  ///< scripts sent behind ASKING
  std::vector<Call> early_;    ///< calls made before the hash slots were known for the first time
  bool fresh_ = true;          ///< the first refresh of the cluster has not ended
  Call transaction_;           ///< from MULTI until EXEC or DISCARD
  struct Refused {
    Call call;
    std::string why;
  };
  std::vector<Refused> refused_;
  Timer refusals_;
  bool up_ = false;
  bool refusing_ = false;  ///< a node refuses all clients, and the listeners have been notified
  std::string error_;
  ClusterView view_;
};

}  // namespace w8y::redis
