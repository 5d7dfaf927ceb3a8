#include "simulation/server.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace w8y::sim {

namespace {

constexpr Duration of_command = std::chrono::microseconds(15);
constexpr Duration of_kilobyte = std::chrono::microseconds(1);

const std::string invalidations = "__redis__:invalidate";

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

bool writes(const std::string& command) {
  const CommandInfo* info = command_of(command);
  return info != nullptr && info->effect != CommandInfo::Effect::reads;
}

}  // namespace

Keys& Server::keys() {
  keys_.now_us = world_.wall_us();
  return keys_;
}

void Server::connected(Peer& peer) {
  sessions_[&peer].id = ++last_id_;
  order_.push_back(&peer);
  ++load_.connections;
  if (times != nullptr) owed_ns_ += times->of_connection();
}

void Server::gone(Peer& peer) {
  ++load_.ended;
  if (times != nullptr) {
    for (const std::string& channel : std::unordered_set(sessions_[&peer].channels))
      change_channels(peer, channel, false);
    std::erase(waiting_, &peer);
  }
  sessions_.erase(&peer);
  std::erase(order_, &peer);
  for (auto& [key, peers] : tracked_) std::erase(peers, &peer);
}

void Server::received(Peer& peer, std::string bytes) {
  if (!up_ || !sessions_.contains(&peer)) return;
  Session& session = sessions_[&peer];
  session.input += bytes;
  if (times == nullptr) {
    if (!hung_) work(peer);
    return;
  }
  if (!std::exchange(session.waits, true)) waiting_.push_back(&peer);
  serve();
}

/// Serves all input of the connection that has waited for the longest time, as Redis does.
void Server::serve() {
  if (serving_ || hung_ || waiting_.empty()) return;
  serving_ = true;
  Peer& peer = *waiting_.front();
  waiting_.pop_front();
  Session& session = sessions_[&peer];
  session.waits = false;
  std::vector<Output> outputs{{&peer, {}}};
  owed_ns_ += times->of_read();
  std::size_t taken = 0;
  while (const auto words = parse_command(session.input, taken)) {
    ++load_.commands;
    const std::uint64_t find_count = keys_.find_count, written = keys_.written;
    outputs.front().bytes += reply_to(peer, *words);
    const redis::Script* script = words->front() == "EVALSHA" ? script_of_digest((*words)[1])
                                  : words->front() == "EVAL"  ? script_of_text((*words)[1])
                                                              : nullptr;
    owed_ns_ +=
        times->of_command({*words, script, static_cast<double>(keys_.find_count - find_count),
                           static_cast<double>(keys_.written - written)});
    for (const Published& message : std::exchange(published_, {})) {
      const auto audience = audience_.find(message.channel);
      if (audience == audience_.end()) continue;
      std::string bytes;
      append(bytes, Value::array({Value::of("message"), Value::of(message.channel),
                                  Value::of(message.text)}));
      owed_ns_ += times->of_message() * static_cast<double>(audience->second.size());
      load_.messages += audience->second.size();
      for (Peer* each : audience->second) outputs.push_back({each, bytes});
    }
    for (Output& output : extract_invalidations()) {
      owed_ns_ += times->of_message();
      ++load_.messages;
      outputs.push_back(std::move(output));
    }
  }
  session.input.erase(0, taken);
  const Duration took(static_cast<Duration::rep>(owed_ns_ / 1000));
  owed_ns_ -= static_cast<double>(took.count()) * 1000;
  load_.busy += took;
  world_.after(took, [this, life = life_, outputs = std::move(outputs)]() mutable {
    if (life != life_) return;
    for (Output& output : outputs)
      if (!output.bytes.empty() && sessions_.contains(output.peer))
        output.peer->replied(std::move(output.bytes));
    serving_ = false;
    serve();
  });
}

void Server::work(Peer& peer) {
  for (;;) {
    const auto session = sessions_.find(&peer);
    if (session == sessions_.end() || hung_) return;
    const auto words = parse_command(session->second.input);
    if (!words) return;
    reply(peer, *words);
  }
}

void Server::reply(Peer& peer, const Words& words) {
  const std::string command = upper(words.front());
  if (command == forbidden_) {
    sessions_[&peer].transaction.refused();
    sessions_[&peer].caching = false;
    ++commands_[peer.name()];
    std::string bytes, lower = command;
    for (char& c : lower) c = static_cast<char>(c - 'A' + 'a');
    append(bytes,
           Value::error("NOPERM this user has no permissions to run the '" + lower + "' command"));
    return send_later(peer, std::move(bytes));
  }
  std::size_t size = 0;
  for (const std::string& word : words) size += word.size();
  const Duration took = (of_command + of_kilobyte * (size / 1024)) * slowness_;
  busy_until_ = std::max(busy_until_, world_.now()) + took;
  send_later(peer, reply_to(peer, words));
  deliver();
}

std::string Server::reply_to(Peer& peer, const Words& words) {
  const std::string command = upper(words.front());
  if (command != "CLIENT") ++commands_[peer.name()];  // CLIENT CACHING is part of a tracked peek
  std::string bytes;
  if (command == "SUBSCRIBE" || command == "UNSUBSCRIBE") {
    for (std::size_t i = 1; i < words.size(); ++i) {
      change_channels(peer, words[i], command == "SUBSCRIBE");
      append(bytes,
             Value::array({Value::of(command == "SUBSCRIBE" ? "subscribe" : "unsubscribe"),
                           Value::of(words[i]), Value::of(std::ssize(sessions_[&peer].channels))}));
    }
  } else if (command == "CLIENT") {
    append(bytes, client_command(sessions_[&peer], words));
  } else if (command == "PING" && !sessions_[&peer].channels.empty()) {
    append(bytes, Value::array({Value::of("pong"), Value::of("")}));
  } else {
    Transaction& transaction = sessions_[&peer].transaction;
    const auto queued = transaction.handle(
        words, {[this](const Words& each) { return refusal_of(each); },
                [&](const std::vector<Words>& all) { return execute_all(peer.name(), all); }});
    current_ = &peer;
    append(bytes, queued ? *queued : execute(peer.name(), words));
    current_ = nullptr;
    if (std::exchange(sessions_[&peer].caching, false)) track(peer, words);
  }
  return bytes;
}

// ---- client-side caching

Value Server::client_command(Session& session, const Words& words) {
  const std::string what = words.size() > 1 ? upper(words[1]) : std::string();
  if (what == "ID") return Value::of(session.id);
  if (what != "TRACKING" && what != "CACHING") return Value::status("OK");
  if (!permits_tracking_)
    return Value::error("NOPERM this user has no permissions to run the 'client|tracking' command");
  if (what == "CACHING") {
    if (session.redirect == 0)
      return Value::error(
          "ERR CLIENT CACHING can be called only when the client is in tracking mode");
    session.caching = true;
    return Value::status("OK");
  }
  const std::int64_t to = number(words.at(4));
  if (std::ranges::none_of(sessions_, [&](const auto& each) { return each.second.id == to; }))
    return Value::error("ERR The client ID you want redirect to does not exist");
  session.redirect = to;
  return Value::status("OK");
}

void Server::track(Peer& peer, const Words& words) {
  const std::string command = upper(words.front());
  if (command != "EXISTS" && command != "LLEN" && command != "ZRANGE")
    throw std::logic_error("the simulation has no model of a tracked " + command);
  const std::size_t keys = command == "EXISTS" ? words.size() : 2;
  for (std::size_t i = 1; i < keys; ++i) {
    auto& peers = tracked_[words[i]];
    if (std::ranges::find(peers, &peer) == peers.end()) peers.push_back(&peer);
  }
}

void Server::touched(const std::string& key, const char*) {
  const auto found = tracked_.find(key);
  if (found == tracked_.end()) return;
  for (Peer* peer : found->second)
    if (peer != current_) invalidations_.push_back({sessions_.at(peer).redirect, key});
  tracked_.erase(found);
}

std::vector<Server::Output> Server::extract_invalidations() {
  std::vector<Output> outputs;
  for (const Invalidation& each : std::exchange(invalidations_, {}))
    for (const auto& [peer, session] : sessions_) {
      if (session.id != each.to || !session.channels.contains(invalidations)) continue;
      Output output{peer, {}};
      append(output.bytes, Value::array({Value::of("message"), Value::of(invalidations),
                                         Value::array({Value::of(each.key)})}));
      outputs.push_back(std::move(output));
    }
  return outputs;
}

void Server::permit_tracking(bool permit) {
  permits_tracking_ = permit;
}

std::int64_t Server::hearers(const std::string& channel) const {
  if (times != nullptr) {
    const auto audience = audience_.find(channel);
    return audience == audience_.end() ? 0 : std::ssize(audience->second);
  }
  return std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& session) {
    return session.second.channels.contains(channel);
  });
}

void Server::change_channels(Peer& peer, const std::string& channel, bool hears) {
  auto& channels = sessions_[&peer].channels;
  const bool changed = hears ? channels.insert(channel).second : channels.erase(channel) > 0;
  if (!changed || times == nullptr) return;
  auto& audience = audience_[channel];
  hears ? audience.push_back(&peer) : (void)std::erase(audience, &peer);
  if (audience.empty()) audience_.erase(channel);
}

void Server::send_later(Peer& peer, std::string bytes) {
  world_.at(busy_until_, [this, &peer, life = life_, bytes = std::move(bytes)]() mutable {
    if (life == life_ && sessions_.contains(&peer)) peer.replied(std::move(bytes));
  });
}

void Server::deliver() {
  for (Output& output : extract_invalidations()) send_later(*output.peer, std::move(output.bytes));
  for (const Published& message : std::exchange(published_, {}))
    for (Peer* peer : order_) {
      if (!sessions_[peer].channels.contains(message.channel)) continue;
      if (times != nullptr) owed_ns_ += times->of_message();
      std::string bytes;
      append(bytes, Value::array({Value::of("message"), Value::of(message.channel),
                                  Value::of(message.text)}));
      send_later(*peer, std::move(bytes));
    }
}

Value Server::command(const std::string& who, const Words& words) {
  if (!up_ || hung_) return Value::error("ERR not reachable");
  ++commands_[who];
  Value reply = execute(who, words);
  deliver();
  return reply;
}

Value Server::run(const std::string& who, const redis::Script& script, const Words& key,
                  const Words& args) {
  if (!up_ || hung_) return Value::error("ERR not reachable");
  ++commands_[who];
  keys();
  Value reply = watched({who, {}, &script, key, args, true});
  deliver();
  return reply;
}

Value Server::watched(const Command& command) {
  if (watcher != nullptr) watcher->before(*this, command);
  Value reply;
  try {
    reply = carried_out(command);
  } catch (const WrongType&) {
    reply = Value::error("WRONGTYPE Operation against a key holding the wrong kind of value");
  }
  if (watcher != nullptr) watcher->after(*this, command, reply);
  return reply;
}

Value Server::carried_out(const Command& command) {
  const ScriptCall call{keys_, command.key, command.arg, published_};
  if (command.queued != nullptr) {
    std::vector<Value> replies;
    for (const Words& words : *command.queued) replies.push_back(plain(words));
    return Value::array(std::move(replies));
  }
  if (command.script == nullptr) return plain(command.words);
  return run_lua(*command.script, call, [&](const CommandInfo& info, bool written) {
    return refusal_of(info, written, command.may_all);
  });
}

/// Returns the error of a command in a script. A full Redis permits it if the script has written
/// before.
std::string Server::refusal_of(const CommandInfo& info, bool written, bool may_all) const {
  if (!may_all && forbidden_ == info.name)
    return "ERR The user executing the script can't run this command or subcommand";
  if (refusal_.empty() || info.effect == CommandInfo::Effect::reads) return {};
  const bool full = refusal_.starts_with("OOM");
  if (full && (written || info.effect != CommandInfo::Effect::grows)) return {};
  return refusal_;
}

Value Server::execute(const std::string& who, const Words& words) {
  keys();
  const std::string command = upper(words.front());
  if (std::string why = refusal_of(words); !why.empty()) return Value::error(std::move(why));
  if (command == "EVAL" || command == "EVALSHA") return scripted(who, words);
  return watched({who, words, nullptr, {}, {}});
}

std::string Server::refusal_of(const Words& words) const {
  const std::string command = upper(words.front());
  if (loading_ && command != "CLIENT") return "LOADING Redis is loading the dataset in memory";
  return !refusal_.empty() && writes(command) ? refusal_ : std::string();
}

Value Server::execute_all(const std::string& who, const std::vector<Words>& queued) {
  keys();
  return watched({who, {"EXEC"}, nullptr, {}, {}, false, &queued});
}

Value Server::scripted(const std::string& who, const Words& words) {
  const bool by_digest = upper(words[0]) == "EVALSHA";
  if (by_digest && !loaded_.contains(words[1]))
    return Value::error("NOSCRIPT No matching script. Please use EVAL.");
  const redis::Script* script = by_digest ? script_of_digest(words[1]) : script_of_text(words[1]);
  if (script == nullptr) return Value::error("ERR the simulation does not know this script");
  if (!by_digest) loaded_.emplace(script->sha1);
  const auto count = static_cast<std::ptrdiff_t>(number(words[2]));
  const Words key(words.begin() + 3, words.begin() + 3 + count);
  // The last argument names the call.
  const Words arg(words.begin() + 3 + count, words.end() - 1);
  Value reply = watched({who, {}, script, key, arg});
  if (reply.kind == Value::Kind::error) return reply;
  return Value::array({Value::of(words.back()), std::move(reply)});
}

Value Server::plain(const Words& words) {
  const std::string command = upper(words.front());
  if (command == "PING") return Value::status("PONG");
  if (command == "INFO")
    return Value::of(
        "redis_version:7.0.15\r\nredis_mode:standalone\r\nrole:master\r\nmaxmemory:0\r\n"
        "maxmemory_policy:noeviction\r\naof_enabled:1\r\n");
  const CommandInfo* info = command_of(command);
  if (info == nullptr) return Value::error("ERR the simulation has no model of " + command);
  return run_command(*info, {keys_, words, published_});
}

// ---- faults

void Server::break_connections() {
  tracked_.clear();
  for (Peer* peer : std::exchange(order_, {})) {
    sessions_.erase(peer);
    peer->closed();
  }
  sessions_.clear();
  invalidations_.clear();
  audience_.clear();
  waiting_.clear();
}

void Server::restart(Duration away, bool loses, Duration loads) {
  if (!up_) return;
  up_ = false;
  hung_ = false;
  ++life_;
  world_.log(name_, "", loses ? "dies and loses its last writes" : "dies");
  break_connections();
  serving_ = false;
  loaded_.clear();
  if (loses && saved_) {
    keys_ = *saved_;
    if (watcher != nullptr) watcher->lost_writes(*this);
  }
  saved_.reset();
  world_.after(away, [this, loads] {
    up_ = loading_ = true;
    world_.log(name_, "", "starts and loads");
    world_.after(loads, [this] { loading_ = false; });
  });
}

void Server::hang(bool hung) {
  hung_ = hung;
  if (hung) return;
  if (times != nullptr) return serve();
  for (Peer* peer : std::vector<Peer*>(order_))
    if (sessions_.contains(peer)) work(*peer);
}

std::uint64_t Server::commands(const std::string& who) const {
  const auto found = commands_.find(who);
  return found == commands_.end() ? 0 : found->second;
}

}  // namespace w8y::sim
