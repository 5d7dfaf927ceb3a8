// Client of a cluster: each command goes to the primary of its slot, and after it when it moves.
#pragma once

#include <bitset>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/timers.hpp"
#include "redis/client_impl.hpp"
#include "redis/cluster_call.hpp"
#include "redis/cluster_node.hpp"
#include "redis/cluster_view.hpp"
#include "redis/hash_slot_queue.hpp"

namespace w8y::redis {

/// Up while all slots that were ever asked for are served by nodes that can be reached. Commands of
/// one slot keep their order, also when they are sent again: after MOVED and ASK, a few times, and
/// after TRYAGAIN for command_timeout. Whatever else a node answers, or that it is away, is the
/// caller's answer, as with one server.
class ClusterClient final : public Client::Impl {
 public:
  using Callback = Client::Callback;

  ClusterClient(loop::Loop& loop, ClientOptions options);

  void call(const Command& command, Callback callback) override;
  void run(const Script& script, const Command& keys, const Command& args,
           Callback callback) override;
  [[nodiscard]] bool connected() const override { return up_; }
  [[nodiscard]] const std::string& error() const override { return error_; }
  [[nodiscard]] std::uint64_t commands_sent() const override;
  [[nodiscard]] std::size_t unsent() const override;
  void reconnect_now() override;

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
  void answered(const Call& call, std::size_t part, ClusterNode& node, const Answer& answer);
  void look_at_error(const ClusterCall& call, ClusterNode& node, const Answer& answer);
  void refuse(const Call& call, const std::string& why);
  void answer_refused();

  void refreshed(const std::string& problem);
  void assess();
  std::string find_error(bool& connecting);
  void look_for_refusals();
  void sweep_nodes();
  void tell_down(const std::string& why);

  loop::Loop& loop_;
  const ClientOptions options_;
  std::map<HostPort, std::unique_ptr<ClusterNode>> nodes_;  ///< those that are in use
  std::uint64_t retired_sent_ = 0;                          ///< by nodes that are no more
  std::unordered_map<Slot, HashSlotQueue> lanes_;           ///< of slots with calls
  std::bitset<slot_count> used_;
  std::vector<Slot> used_slots_;
  Slot last_slot_ = 0;       ///< what has no key follows what was called before it
  std::uint64_t asked_ = 0;  ///< scripts that were sent behind ASKING
  std::vector<Call> early_;  ///< called before the slots were known for the first time
  bool fresh_ = true;        ///< nobody has been asked in vain yet
  Call transaction_;         ///< from MULTI until EXEC or DISCARD
  struct Refused {
    Call call;
    std::string why;
  };
  std::vector<Refused> refused_;
  Timer refusals_;
  bool up_ = false;
  bool refusing_ = false;  ///< a node does, and that was told
  std::string error_;
  ClusterView view_;
};

}  // namespace w8y::redis
