#include "redis/subscriber.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "core/timers.hpp"
#include "redis/listener_list.hpp"
#include "redis/reconnecting_connection.hpp"
#include "redis/topics.hpp"

namespace w8y::redis {

namespace {

/// Interval at which one of the refused channels is requested again.
constexpr Duration refused_pause = std::chrono::seconds(5);
/// Redis accepts at most a million words in a command.
constexpr std::size_t max_names = 1U << 16;

}  // namespace

struct Subscription::Entry : TopicEntry {
  Subscriber::Impl* owner = nullptr;  ///< nullptr: destroyed
};

class Subscriber::Impl final : private ReconnectingConnection::Handler {
 public:
  using Entry = Subscription::Entry;
  struct FunctionEntry final : Entry, private MessageHandler {
    FunctionEntry(Callback told, Ready then) : callback(std::move(told)), ready(std::move(then)) {
      hearer = this;
    }
    void on_message(std::string_view channel, std::string_view payload) override {
      callback(channel, payload);
    }
    void on_confirmed(std::string_view) override {
      if (ready) ready();
    }
    Callback callback;
    Ready ready;
  };

  Impl(loop::Loop& loop, ClientOptions options, std::unique_ptr<Discovery> discovery)
      : loop_(loop),
        link_(loop, std::move(options), *this, std::move(discovery)),
        ping_(loop.timers()),
        ready_(loop.timers()),
        refused_(loop.timers()),
        sync_(loop, [this] { sync(); }) {}
  ~Impl() {
    topics_.each([](TopicEntry& entry) { static_cast<Entry&>(entry).owner = nullptr; });
  }

  std::shared_ptr<Entry> add(std::shared_ptr<Entry> entry, std::string_view name);
  void forget(const std::shared_ptr<Entry>& entry);

  [[nodiscard]] bool connected() const { return connected_; }
  void request_id() { requests_id_ = true; }
  [[nodiscard]] std::int64_t client_id() const { return client_id_; }
  ReconnectingConnection& link() { return link_; }
  ListenerList<Listener>& listeners() { return listeners_; }

 private:
  /// A command with replies in flight: one for each name, or one for a PING.
  struct Sent {
    enum class What : std::uint8_t { id, subscribe, unsubscribe, ping, first_ping } what;
    std::vector<std::string> names;
    std::size_t replied = 0;
  };

  void sync();
  void send(Sent::What what, std::vector<std::string> names);
  void send_ping(Sent::What what);
  void on_link_up() override;
  void on_reply(const Reply& reply) override;
  void on_link_down(const Connection::End& end) override;
  void on_message(std::string_view channel, std::string_view payload);
  void on_answer(const Reply& reply);
  void on_error(Sent refused, const std::string& why);
  void on_ping_time();
  void notify_ready();
  void retry_refused();

  loop::Loop& loop_;
  ReconnectingConnection link_;
  Topics topics_;
  std::deque<Sent> sent_;
  bool connected_ = false;
  bool requests_id_ = false;
  std::int64_t client_id_ = 0;
  std::string reported_;
  Timer ping_;
  bool received_ = false;  // received anything since the timer was set
  bool late_ = false;
  Timer ready_;
  Timer refused_;
  std::vector<std::weak_ptr<Entry>> ready_entries_;  // their topic was already confirmed
  ListenerList<Listener> listeners_;
  loop::Loop::BeforeWait sync_;  // before that of the connection, which is registered later
};

std::shared_ptr<Subscription::Entry> Subscriber::Impl::add(std::shared_ptr<Entry> entry,
                                                           std::string_view name) {
  entry->owner = this;
  entry->name = name;
  if (topics_.add(entry)) {
    ready_entries_.push_back(entry);
    if (!ready_.pending()) ready_.set(loop_.now(), [this] { notify_ready(); });
  }
  link_.start();
  return entry;
}

void Subscriber::Impl::forget(const std::shared_ptr<Entry>& entry) {
  topics_.remove(entry);
}

void Subscriber::Impl::sync() {
  if (link_.state() != ReconnectingConnection::State::up) return;
  for (Topics::Command& command : topics_.commands())
    send(command.subscribe ? Sent::What::subscribe : Sent::What::unsubscribe,
         std::move(command.names));
}

void Subscriber::Impl::send(Sent::What what, std::vector<std::string> names) {
  std::string& out = link_.connection()->output();
  for (std::size_t from = 0; from < names.size(); from += max_names) {
    const std::size_t to = std::min(names.size(), from + max_names);
    append_count(out, 1 + to - from);
    append_word(out, what == Sent::What::subscribe ? "SUBSCRIBE" : "UNSUBSCRIBE");
    for (std::size_t i = from; i < to; ++i) append_word(out, names[i]);
    const auto begin = std::make_move_iterator(names.begin());
    sent_.push_back(
        {what,
         {begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to)}});
  }
}

void Subscriber::Impl::send_ping(Sent::What what) {
  append_command(link_.connection()->output(), {"PING"});
  sent_.push_back({what, {}});
  received_ = false;
  ping_.set(loop_.now() + link_.options().command_timeout, [this] { on_ping_time(); });
}

void Subscriber::Impl::on_link_up() {
  if (requests_id_) {  // sent before SUBSCRIBE: afterwards, Redis refuses CLIENT
    append_command(link_.connection()->output(), {"CLIENT", "ID"});
    sent_.push_back({Sent::What::id, {}});
  }
  topics_.connected();
  sync();
  send_ping(Sent::What::first_ping);  // its reply comes after all confirmations
}

void Subscriber::Impl::on_reply(const Reply& reply) {
  received_ = true;
  late_ = false;
  const std::string_view what = reply[0].text();
  if (what == "message" && reply.size() == 3) {
    const Reply payload = reply[2];
    if (!payload.is_array()) return on_message(reply[1].text(), payload.text());
    for (std::size_t i = 0; i < payload.size(); ++i) on_message(reply[1].text(), payload[i].text());
  } else if (sent_.empty()) {
    link_.drop("unexpected reply");
  } else {
    on_answer(reply);
  }
}

void Subscriber::Impl::on_message(std::string_view channel, std::string_view payload) {
  for (const auto& entry : topics_.entries(channel))
    if (entry->alive) entry->hearer->on_message(channel, payload);
}

void Subscriber::Impl::on_answer(const Reply& reply) {
  Sent& front = sent_.front();
  const Sent::What what = front.what;
  if (what == Sent::What::id) {
    sent_.pop_front();
    client_id_ = reply.is_integer() ? reply.integer() : 0;
  } else if (what == Sent::What::ping || what == Sent::What::first_ping) {
    sent_.pop_front();
    if (what == Sent::What::ping) return;
    connected_ = true;
    reported_.clear();
    listeners_.for_each([](Listener& listener) { listener.on_up(); });
  } else if (reply.is_error()) {
    Sent refused = std::move(front);
    sent_.pop_front();
    on_error(std::move(refused), std::string(reply.text()));
  } else {
    if (++front.replied == front.names.size()) sent_.pop_front();
    const bool subscribe = what == Sent::What::subscribe;
    for (const auto& entry : topics_.confirmed(subscribe, reply[1].text()))
      if (entry->alive) entry->hearer->on_confirmed(entry->name);
  }
}

/// One refused name fails the whole command. Then each name is requested separately.
void Subscriber::Impl::on_error(Sent refused, const std::string& why) {
  if (error_code(why) != ErrorCode::noperm) {
    link_.drop(why);
  } else if (refused.names.size() > 1) {
    for (std::string& name : refused.names) send(refused.what, {std::move(name)});
  } else if (refused.what == Sent::What::subscribe) {
    const std::string& name = refused.names.front();
    topics_.refused(name);
    if (!refused_.pending()) refused_.set(loop_.now() + refused_pause, [this] { retry_refused(); });
    listeners_.for_each([&](Listener& listener) { listener.on_refused(name, why); });
  }
}

void Subscriber::Impl::retry_refused() {
  if (link_.state() != ReconnectingConnection::State::up || !topics_.retry_refused()) return;
  refused_.set(loop_.now() + refused_pause, [this] { retry_refused(); });
}

void Subscriber::Impl::on_link_down(const Connection::End& end) {
  connected_ = false;
  client_id_ = 0;
  sent_.clear();
  ping_.cancel();
  late_ = false;
  topics_.disconnected();
  if (reported_ == end.why) return;
  reported_ = end.why;
  listeners_.for_each([&](Listener& listener) { listener.on_down(end.why); });
}

void Subscriber::Impl::on_ping_time() {
  const bool waiting = std::ranges::any_of(sent_, [](const Sent& sent) {
    return sent.what == Sent::What::ping || sent.what == Sent::What::first_ping;
  });
  if (!waiting) {
    send_ping(Sent::What::ping);
  } else if (received_) {
    received_ = false;
    ping_.set(loop_.now() + link_.options().command_timeout, [this] { on_ping_time(); });
  } else if (!late_) {
    // If this process was suspended, the reply has already arrived and only needs to be read.
    late_ = true;
    ping_.set(loop_.now() + std::chrono::milliseconds(20), [this] { on_ping_time(); });
  } else {
    link_.drop("no reply to PING in time");
  }
}

void Subscriber::Impl::notify_ready() {
  const auto entries = std::exchange(ready_entries_, {});
  for (const auto& weak : entries) {
    const auto entry = weak.lock();
    if (entry && entry->alive && topics_.is_confirmed(*entry))
      entry->hearer->on_confirmed(entry->name);
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
  if (entry->owner != nullptr) entry->owner->forget(entry);
}

Subscriber::Subscriber(loop::Loop& loop, ClientOptions options)
    : Subscriber(loop, options, make_discovery(loop, options)) {}

Subscriber::Subscriber(loop::Loop& loop, ClientOptions options,
                       std::unique_ptr<Discovery> discovery)
    : impl_(std::make_unique<Impl>(loop, std::move(options), std::move(discovery))) {}

Subscriber::~Subscriber() = default;

Subscription Subscriber::subscribe(std::string_view name, Callback callback, Ready ready) {
  return Subscription(impl_->add(
      std::make_shared<Impl::FunctionEntry>(std::move(callback), std::move(ready)), name));
}

Subscription Subscriber::subscribe(std::string_view name, MessageHandler& hearer) {
  auto entry = std::make_shared<Impl::Entry>();
  entry->hearer = &hearer;
  return Subscription(impl_->add(std::move(entry), name));
}

bool Subscriber::connected() const {
  return impl_->connected();
}

void Subscriber::request_id() {
  impl_->request_id();
}

std::int64_t Subscriber::client_id() const {
  return impl_->client_id();
}

const std::string& Subscriber::error() const {
  return impl_->link().error();
}

Subscriber::Listener::Listener(Subscriber& subscriber)
    : subscriber_(subscriber), place_(subscriber.impl_->listeners().add(this)) {}

Subscriber::Listener::~Listener() {
  subscriber_.impl_->listeners().remove(place_);
}

}  // namespace w8y::redis
