#include "redis/subscriber.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include <w8y/timers.hpp>

#include "redis/link.hpp"
#include "redis/listeners.hpp"

namespace w8y::redis {

namespace {

enum Kind : std::uint8_t { channel, pattern };
constexpr std::array kinds = {channel, pattern};
constexpr std::array subscribe_words = {"SUBSCRIBE", "PSUBSCRIBE"};
constexpr std::array unsubscribe_words = {"UNSUBSCRIBE", "PUNSUBSCRIBE"};

/// Redis takes no more than a million words in a command.
constexpr std::size_t most_names = 1U << 16;

}  // namespace

struct Subscription::Entry {
  std::weak_ptr<Subscriber::Impl> owner;
  Kind kind;
  std::string name;
  Subscriber::Callback callback;
  Subscriber::Ready ready;
  bool alive = true;
};

class Subscriber::Impl final : public std::enable_shared_from_this<Impl>, private Link::Handler {
 public:
  using Entry = Subscription::Entry;

  Impl(loop::Loop& loop, ClientOptions options, std::unique_ptr<Discovery> discovery)
      : loop_(loop),
        link_(loop, std::move(options), *this, std::move(discovery)),
        ping_(loop.timers()),
        ready_(loop.timers()),
        sync_(loop, [this] { sync(); }) {}

  std::shared_ptr<Entry> add(Kind kind, std::string_view name, Callback callback, Ready ready);
  void forget(const std::shared_ptr<Entry>& entry);

  [[nodiscard]] bool connected() const { return connected_; }
  Link& link() { return link_; }
  Listeners<Listener>& listeners() { return listeners_; }

 private:
  struct Topic {
    std::vector<std::shared_ptr<Entry>> entries;
    bool dirty = false;        // its name is in dirty_
    bool asked = false;        // SUBSCRIBE has been sent after any UNSUBSCRIBE
    bool confirmed = false;    // and the server has answered
    unsigned unconfirmed = 0;  // SUBSCRIBEs on their way
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Topics = std::unordered_map<std::string, Topic, Hash, std::equal_to<>>;

  /// A command whose answers are still to come: one for each name, or one for a PING.
  struct Sent {
    enum class What : std::uint8_t { subscribe, unsubscribe, ping, first_ping } what;
    Kind kind = channel;
    std::vector<std::string> names;
    std::size_t answered = 0;
  };

  void mark(Kind kind, std::string_view name, Topic& topic);
  void sync();
  void sync(Kind kind);
  void send(Sent::What what, Kind kind, std::vector<std::string> names);
  void send_ping(Sent::What what);
  void on_link_up() override;
  void on_link_reply(const Reply& reply) override;
  void on_link_down(const Connection::End& end) override;
  void on_message(Kind kind, std::string_view topic, std::string_view from,
                  std::string_view payload);
  void on_answer(const Reply& reply);
  void on_confirmed(Sent::What what, Kind kind, std::string_view name);
  void on_error(Sent refused, const std::string& why);
  void on_ping_time();
  void tell_ready();

  loop::Loop& loop_;
  Link link_;
  std::array<Topics, 2> topics_;
  std::array<std::vector<std::string>, 2> dirty_;  // names of topics that may need a command
  std::deque<Sent> sent_;
  bool connected_ = false;
  std::string told_;
  Timer ping_;
  bool heard_ = false;  // anything since the timer was set
  bool late_ = false;
  Timer ready_;
  std::vector<std::weak_ptr<Entry>> ready_entries_;  // came when their topic was confirmed already
  Listeners<Listener> listeners_;
  loop::Loop::BeforeWait sync_;  // before the connection's own, which is registered later
};

std::shared_ptr<Subscription::Entry> Subscriber::Impl::add(Kind kind, std::string_view name,
                                                           Callback callback, Ready ready) {
  auto entry = std::make_shared<Entry>(
      Entry{weak_from_this(), kind, std::string(name), std::move(callback), std::move(ready)});
  Topic& topic = topics_[kind][entry->name];
  topic.entries.push_back(entry);
  mark(kind, name, topic);
  if (topic.confirmed && entry->ready) {
    ready_entries_.push_back(entry);
    if (!ready_.pending()) ready_.set(loop_.now(), [this] { tell_ready(); });
  }
  link_.start();
  return entry;
}

void Subscriber::Impl::forget(const std::shared_ptr<Entry>& entry) {
  const auto found = topics_[entry->kind].find(entry->name);
  if (found == topics_[entry->kind].end()) return;
  std::erase(found->second.entries, entry);
  if (link_.state() == Link::State::up) {
    mark(entry->kind, entry->name, found->second);
  } else if (found->second.entries.empty()) {
    topics_[entry->kind].erase(found);
  }
}

/// Without a connection nothing is noted: a new one looks at every topic.
void Subscriber::Impl::mark(Kind kind, std::string_view name, Topic& topic) {
  if (link_.state() != Link::State::up || topic.dirty) return;
  if (topic.entries.empty() != topic.asked) return;
  topic.dirty = true;
  dirty_[kind].emplace_back(name);
}

void Subscriber::Impl::sync() {
  if (link_.state() != Link::State::up) return;
  for (const Kind kind : kinds)
    if (!dirty_[kind].empty()) sync(kind);
}

void Subscriber::Impl::sync(Kind kind) {
  std::vector<std::string> wanted;
  std::vector<std::string> unwanted;
  for (std::string& name : std::exchange(dirty_[kind], {})) {
    const auto found = topics_[kind].find(name);
    if (found == topics_[kind].end()) continue;
    Topic& topic = found->second;
    topic.dirty = false;
    const bool want = !topic.entries.empty();
    if (want == topic.asked) {
      if (!want && topic.unconfirmed == 0) topics_[kind].erase(found);
      continue;
    }
    topic.asked = want;
    topic.confirmed = false;
    if (want) ++topic.unconfirmed;
    (want ? wanted : unwanted).push_back(std::move(name));
  }
  send(Sent::What::unsubscribe, kind, std::move(unwanted));
  send(Sent::What::subscribe, kind, std::move(wanted));
}

void Subscriber::Impl::send(Sent::What what, Kind kind, std::vector<std::string> names) {
  std::string& out = link_.connection()->output();
  const auto& words = what == Sent::What::subscribe ? subscribe_words : unsubscribe_words;
  for (std::size_t from = 0; from < names.size(); from += most_names) {
    const std::size_t to = std::min(names.size(), from + most_names);
    append_count(out, 1 + to - from);
    append_word(out, words[kind]);
    for (std::size_t i = from; i < to; ++i) append_word(out, names[i]);
    const auto begin = std::make_move_iterator(names.begin());
    sent_.push_back(
        {what,
         kind,
         {begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to)}});
  }
}

void Subscriber::Impl::send_ping(Sent::What what) {
  append_command(link_.connection()->output(), {"PING"});
  sent_.push_back({what, channel, {}});
  heard_ = false;
  ping_.set(loop_.now() + link_.options().command_timeout, [this] { on_ping_time(); });
}

void Subscriber::Impl::on_link_up() {
  for (const Kind kind : kinds) {
    dirty_[kind].clear();
    std::erase_if(topics_[kind], [](const auto& each) { return each.second.entries.empty(); });
    for (auto& [name, topic] : topics_[kind]) {
      topic.dirty = topic.asked = topic.confirmed = false;
      topic.unconfirmed = 0;
      mark(kind, name, topic);
    }
    sync(kind);
  }
  send_ping(Sent::What::first_ping);  // its answer comes behind all the confirmations
}

void Subscriber::Impl::on_link_reply(const Reply& reply) {
  heard_ = true;
  late_ = false;
  const std::string_view what = reply[0].text();
  if (what == "message" && reply.size() == 3) {
    on_message(channel, reply[1].text(), reply[1].text(), reply[2].text());
  } else if (what == "pmessage" && reply.size() == 4) {
    on_message(pattern, reply[1].text(), reply[2].text(), reply[3].text());
  } else if (sent_.empty()) {
    link_.drop("an answer that nobody asked for");
  } else {
    on_answer(reply);
  }
}

void Subscriber::Impl::on_message(Kind kind, std::string_view topic, std::string_view from,
                                  std::string_view payload) {
  const auto found = topics_[kind].find(topic);
  if (found == topics_[kind].end()) return;
  const auto entries = found->second.entries;  // they may come and go in the callbacks
  for (const auto& entry : entries)
    if (entry->alive) entry->callback(from, payload);
}

void Subscriber::Impl::on_answer(const Reply& reply) {
  Sent& front = sent_.front();
  const Sent::What what = front.what;
  const Kind kind = front.kind;
  if (what == Sent::What::ping || what == Sent::What::first_ping) {
    sent_.pop_front();
    if (what == Sent::What::ping) return;
    connected_ = true;
    told_.clear();
    listeners_.tell([](Listener& listener) { listener.on_up(); });
  } else if (reply.is_error()) {
    Sent refused = std::move(front);
    sent_.pop_front();
    on_error(std::move(refused), std::string(reply.text()));
  } else {
    if (++front.answered == front.names.size()) sent_.pop_front();
    on_confirmed(what, kind, reply[1].text());
  }
}

void Subscriber::Impl::on_confirmed(Sent::What what, Kind kind, std::string_view name) {
  const auto found = topics_[kind].find(name);
  if (found == topics_[kind].end()) return;
  Topic& topic = found->second;
  if (what == Sent::What::subscribe && topic.unconfirmed > 0) --topic.unconfirmed;
  if (topic.unconfirmed > 0) return;
  if (!topic.asked) {
    if (topic.entries.empty()) topics_[kind].erase(found);
    return;
  }
  if (topic.confirmed) return;
  topic.confirmed = true;
  const auto entries = topic.entries;
  for (const auto& entry : entries)
    if (entry->alive && entry->ready) entry->ready();
}

/// One name that isn't allowed fails the whole command: then each is asked for by itself.
void Subscriber::Impl::on_error(Sent refused, const std::string& why) {
  if (error_code(why) != ErrorCode::noperm) {
    link_.drop(why);
  } else if (refused.names.size() > 1) {
    for (std::string& name : refused.names) send(refused.what, refused.kind, {std::move(name)});
  } else if (refused.what == Sent::What::subscribe) {
    const std::string& name = refused.names.front();
    const auto found = topics_[refused.kind].find(name);
    if (found != topics_[refused.kind].end() && found->second.unconfirmed > 0)
      --found->second.unconfirmed;
    listeners_.tell([&](Listener& listener) { listener.on_refused(name, why); });
  }
}

void Subscriber::Impl::on_link_down(const Connection::End& end) {
  connected_ = false;
  sent_.clear();
  ping_.cancel();
  late_ = false;
  for (auto& topics : topics_)
    for (auto& each : topics) each.second.confirmed = false;
  if (told_ == end.why) return;
  told_ = end.why;
  listeners_.tell([&](Listener& listener) { listener.on_down(end.why); });
}

void Subscriber::Impl::on_ping_time() {
  const bool waiting = std::ranges::any_of(sent_, [](const Sent& sent) {
    return sent.what == Sent::What::ping || sent.what == Sent::What::first_ping;
  });
  if (!waiting) {
    send_ping(Sent::What::ping);
  } else if (heard_) {
    heard_ = false;
    ping_.set(loop_.now() + link_.options().command_timeout, [this] { on_ping_time(); });
  } else if (!late_) {
    // If this process has slept, the answer is there and only has to be read.
    late_ = true;
    ping_.set(loop_.now() + std::chrono::milliseconds(20), [this] { on_ping_time(); });
  } else {
    link_.drop("no answer to PING in time");
  }
}

void Subscriber::Impl::tell_ready() {
  const auto entries = std::exchange(ready_entries_, {});
  for (const auto& weak : entries) {
    const auto entry = weak.lock();
    if (!entry || !entry->alive) continue;
    const auto found = topics_[entry->kind].find(entry->name);
    if (found != topics_[entry->kind].end() && found->second.confirmed) entry->ready();
  }
}

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this != &other) {
    reset();
    entry_ = std::move(other.entry_);
  }
  return *this;
}

void Subscription::reset() {
  const auto entry = std::exchange(entry_, nullptr);
  if (!entry) return;
  entry->alive = false;
  if (const auto owner = entry->owner.lock()) owner->forget(entry);
}

Subscriber::Subscriber(loop::Loop& loop, ClientOptions options)
    : Subscriber(loop, options, make_discovery(loop, options)) {}

Subscriber::Subscriber(loop::Loop& loop, ClientOptions options,
                       std::unique_ptr<Discovery> discovery)
    : impl_(std::make_shared<Impl>(loop, std::move(options), std::move(discovery))) {}

Subscriber::~Subscriber() = default;

Subscription Subscriber::subscribe(std::string_view name, Callback callback, Ready ready) {
  return Subscription(impl_->add(channel, name, std::move(callback), std::move(ready)));
}

Subscription Subscriber::psubscribe(std::string_view name, Callback callback, Ready ready) {
  return Subscription(impl_->add(pattern, name, std::move(callback), std::move(ready)));
}

bool Subscriber::connected() const {
  return impl_->connected();
}

const std::string& Subscriber::trouble() const {
  return impl_->link().trouble();
}

void Subscriber::reconnect_now() {
  impl_->link().reconnect_now();
}

Subscriber::Listener::Listener(Subscriber& subscriber)
    : subscriber_(subscriber), place_(subscriber.impl_->listeners().add(this)) {}

Subscriber::Listener::~Listener() {
  subscriber_.impl_->listeners().remove(place_);
}

}  // namespace w8y::redis
