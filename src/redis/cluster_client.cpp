#include "redis/cluster_client.hpp"

#include <algorithm>
#include <utility>

namespace w8y::redis {

namespace {

std::vector<std::string> owned(const Command& command) {
  return std::vector<std::string>(command.begin(), command.end());
}

Command borrowed(const std::vector<std::string>& words) {
  return Command(words.begin(), words.end());
}

}  // namespace

ClusterClient::ClusterClient(loop::Loop& loop, ClientOptions options)
    : loop_(loop),
      options_(std::move(options)),
      refusals_(loop.timers()),
      view_(loop, options_, [this](const std::string& problem) { refreshed(problem); }) {
  view_.refresh_now();
}

std::uint64_t ClusterClient::commands_sent() const {
  std::uint64_t sent = retired_sent_;
  for (const auto& [place, node] : nodes_) sent += node->client.commands_sent();
  return sent;
}

std::size_t ClusterClient::unsent() const {
  std::size_t unsent = 0;
  for (const auto& [place, node] : nodes_) unsent += node->client.unsent();
  return unsent;
}

void ClusterClient::listen_to_nodes(NodeListener* listener) {
  node_listener_ = listener;
  if (listener == nullptr) return;
  for (const auto& [place, node] : nodes_) listener->on_node(node->client, node->options);
}

Client* ClusterClient::node_of(std::string_view key) {
  const HostPort* primary = view_.map().primary(slot_of(key));
  const auto found = primary != nullptr ? nodes_.find(*primary) : nodes_.end();
  return found != nodes_.end() ? &found->second->client : nullptr;
}

void ClusterClient::reconnect_now() {
  view_.refresh_now();
  for (const auto& [place, node] : nodes_) node->client.reconnect_now();
}

// ---- calls

void ClusterClient::call(const Command& command, Callback callback) {
  if (command.empty()) return;
  if (transaction_ || command.front() == "MULTI")
    return into_transaction(command, std::move(callback));
  submit(make_call(command, std::move(callback)));
}

void ClusterClient::call_both(const Command& first, Callback of_first, const Command& second,
                              Callback of_second) {
  Call call = make_call(second, std::move(of_second));
  call->parts.insert(call->parts.begin(), {owned(first), std::move(of_first)});
  submit(std::move(call));
}

void ClusterClient::run(const Script& script, const Command& keys, const Command& args,
                        Callback callback) {
  Call call = make_call(keys, std::move(callback));
  call->script = &script;
  call->keys = keys.size();
  call->anywhere = keys.empty();
  call->slot = keys.empty() ? last_slot_ : slot_of(keys.front());
  auto& words = call->parts.front().words;
  words.insert(words.end(), args.begin(), args.end());
  submit(std::move(call));
}

ClusterClient::Call ClusterClient::make_call(const Command& command, Callback callback) {
  auto call = std::make_shared<ClusterCall>();
  call->parts.push_back({owned(command), std::move(callback)});
  call->timeout = loop_.now() + options_.command_timeout;
  const auto key = key_of(command);
  call->anywhere = !key;
  call->slot = key ? slot_of(*key) : last_slot_;
  return call;
}

/// The first command with a key determines the hash slot of the transaction.
void ClusterClient::into_transaction(const Command& command, Callback callback) {
  if (!transaction_) {
    transaction_ = make_call(command, std::move(callback));
    return;
  }
  transaction_->parts.push_back({owned(command), std::move(callback)});
  if (const auto key = key_of(command); key && transaction_->anywhere) {
    transaction_->slot = slot_of(*key);
    transaction_->anywhere = false;
  }
  if (command.front() == "EXEC" || command.front() == "DISCARD")
    submit(std::exchange(transaction_, nullptr));
}

void ClusterClient::submit(Call call) {
  if (!view_.known()) {
    if (fresh_) {
      early_.push_back(std::move(call));
    } else {
      refuse(call, error_);
    }
    return;
  }
  const Slot slot = call->slot;
  if (!call->anywhere) {
    last_slot_ = slot;
    if (!used_[slot]) {
      used_.set(slot);
      used_slots_.push_back(slot);
      servers_.push_back(server_of(slot));
    }
  }
  lanes_.try_emplace(slot, loop_.clock(), loop_.timers(), [this, slot] { pump(slot); })
      .first->second.add(std::move(call));
  pump(slot);
}

// ---- sending to nodes

void ClusterClient::pump(Slot slot) {
  const auto found = lanes_.find(slot);
  if (found == lanes_.end()) return;
  HashSlotQueue& lane = found->second;
  while (const ClusterCall* next = lane.next()) {
    std::string why;
    ClusterNode* node = node_for(*next, why);
    if (node == nullptr) {
      refuse(lane.drop(), why);
      view_.refresh();
      continue;
    }
    if (!lane.may_go_to(*node)) return;
    send(lane.begin(*node), *node);
  }
  if (lane.idle()) lanes_.erase(found);
}

ClusterNode* ClusterClient::node_for(const ClusterCall& call, std::string& why) {
  if (call.ask_target) return &node_at(*call.ask_target);
  const HostPort* primary = view_.map().primary(call.slot);
  if (call.anywhere) {
    const auto is_up = [](const auto& each) { return each.second->ready(); };
    const auto known = primary != nullptr ? nodes_.find(*primary) : nodes_.end();
    if (known == nodes_.end() || !is_up(*known))
      if (const auto up = std::ranges::find_if(nodes_, is_up); up != nodes_.end())
        return up->second.get();
  }
  if (primary != nullptr) return &node_at(*primary);
  why = options_.url.to_string() + ": no node serves hash slot " + std::to_string(call.slot);
  return nullptr;
}

ClusterNode& ClusterClient::node_at(const HostPort& place) {
  auto& node = nodes_[place];
  if (!node) {
    node = std::make_unique<ClusterNode>(loop_, options_, place, [this](ClusterNode& changed) {
      view_.reachable(changed.place, changed.ready());
      assess();
    });
    if (node_listener_ != nullptr) node_listener_->on_node(node->client, node->options);
  }
  return *node;
}

void ClusterClient::send(const Call& call, ClusterNode& node) {
  if (call->ask_target) node.client.call({"ASKING"});
  node.unanswered += call->parts.size();
  if (call->script != nullptr)
    return send_script(
        call, node, [this, call, &node](const Answer& answer) { on_reply(call, 0, node, answer); });
  for (std::size_t part = 0; part < call->parts.size(); ++part)
    node.client.call(
        borrowed(call->parts[part].words),
        [this, call, part, &node](const Answer& answer) { on_reply(call, part, node, answer); });
}

void ClusterClient::send_script(const Call& call, ClusterNode& node, Callback callback) {
  const Command words = borrowed(call->parts.front().words);
  const auto args = words.begin() + static_cast<std::ptrdiff_t>(call->keys);
  if (!call->ask_target) {
    node.client.run(*call->script, Command(words.begin(), args), Command(args, words.end()),
                    std::move(callback));
    return;
  }
  // ASKING applies to one command only, so not to a second attempt after NOSCRIPT. Hence the call
  // is named here, and its reply is read as in Client::run().
  const std::string count = std::to_string(call->keys);
  const std::string name = "asked " + std::to_string(++queried_);
  Command eval{"EVAL", call->script->text, count};
  eval.insert(eval.end(), words.begin(), words.end());
  eval.emplace_back(name);
  node.client.call(eval, [name, told = std::move(callback)](const Answer& answer) {
    if (!answer.ok()) return told(answer);
    if (answer.reply.is_array() && answer.reply[0].text() == name)
      return told(Answer{Failure::none, answer.reply[1], {}});
    told(Answer{Failure::lost, Reply(nullptr), "received the reply to another call"});
  });
}

// ---- replies

void ClusterClient::on_reply(const Call& call, std::size_t part, ClusterNode& node,
                             const Answer& answer) {
  --node.unanswered;
  classify_error(*call, node, answer);
  const bool last = part + 1 == call->parts.size();
  if (last) {
    const Resend again = send_again(*call, node.place, answer, loop_.now());
    lanes_.at(call->slot).on_reply(call, again);
    if (again != Resend::never) return;
  }
  const Callback callback = std::move(call->parts[part].callback);
  if (callback) callback(answer);
}

void ClusterClient::classify_error(const ClusterCall& call, ClusterNode& node,
                                   const Answer& answer) {
  switch (answer.error()) {
    case ErrorCode::moved:
      if (const auto place = redirected_to(answer.reply.text(), node.place))
        view_.moved(call.slot, *place);
      view_.refresh();
      break;
    case ErrorCode::clusterdown:
      node.on_cluster_down(answer.reply.text());
      break;
    default:
      break;
  }
}

void ClusterClient::refuse(const Call& call, const std::string& why) {
  refused_.push_back({call, why});
  if (!refusals_.pending()) refusals_.set(loop_.now(), [this] { answer_refused(); });
}

void ClusterClient::answer_refused() {
  const std::vector<Refused> refused = std::exchange(refused_, {});
  for (const Refused& each : refused)
    for (const auto& part : each.call->parts)
      if (part.callback) part.callback(Answer{Failure::not_sent, Reply(nullptr), each.why});
}

}  // namespace w8y::redis
