#include "simulation/network.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace w8y::sim {

namespace {

/// Bytes that the buffers of both sides hold before the server reads.
constexpr std::size_t max_unread = std::size_t{256} << 10;
/// Interval at which held data is checked.
constexpr Duration held_pause = std::chrono::milliseconds(10);

}  // namespace

/// Connection. It lives until both sides have closed it.
class SimulatedConnection final : public Service::Peer,
                                  public std::enable_shared_from_this<SimulatedConnection> {
 public:
  using Handler = loop::Transport::Handler;

  SimulatedConnection(Network& network, Service& server, Inbox& inbox, Handler& handler)
      : network_(network),
        server_(server),
        inbox_(&inbox),
        host_(inbox.name()),
        handler_(&handler),
        line_(network.line(host_, server.name())) {}
  ~SimulatedConnection() override { leave_server(); }
  SimulatedConnection(const SimulatedConnection&) = delete;
  SimulatedConnection& operator=(const SimulatedConnection&) = delete;

  void connect() {
    server_.tried(host_);
    later(to_server_, 0, [this] {
      if (line_.refused || !server_.accepts()) return broken("connection refused");
      connected_ = true;
      server_.connected(*this);
      later(to_host_, 0, [this] { notify([this] { handler_->on_connected(); }); });
    });
  }
  /// Accepts the bytes for which the buffers have room. The host is notified when there is room
  /// again.
  std::size_t write(std::string_view bytes) {
    if (loss_ == Network::Loss::request) {
      lost();
      return bytes.size();
    }
    if (loss_ == Network::Loss::cut) return write_part(bytes);
    const std::size_t size = std::min(bytes.size(), max_unread - unread_);
    full_ = size < bytes.size();
    unread_ += size;
    if (size > 0)
      later(to_server_, size, [this, sent = std::string(bytes.substr(0, size))]() mutable {
        unread_ -= sent.size();
        if (connected_) server_.received(*this, std::move(sent));
        if (std::exchange(full_, false)) notify([this] { handler_->on_room(); });
      });
    return size;
  }
  /// Called when the host closes the connection. The host receives nothing any more.
  void release() {
    handler_ = nullptr;
    if (connected_) later(to_server_, 0, [this] { leave_server(); });
  }
  /// Called when the host has died.
  void cut_off() {
    inbox_ = nullptr;
    release();
  }

  // Service::Peer
  void replied(std::string bytes) override {
    if (later_ > 0) {
      --later_;
    } else if (loss_ == Network::Loss::reply) {
      return lost();
    }
    if (loss_ == Network::Loss::part) bytes.resize(bytes.size() / 2);
    if (std::exchange(twice_, false)) bytes += bytes;
    const std::size_t size = bytes.size();
    later(to_host_, size, [this, sent = std::move(bytes)]() mutable {
      notify([this, sent = std::move(sent)] { handler_->on_bytes(sent); });
    });
    if (loss_ == Network::Loss::part) lost();
  }
  void closed() override {
    connected_ = false;
    broken("connection closed");
  }
  [[nodiscard]] const std::string& name() const override { return host_; }
  [[nodiscard]] const std::string& server() const { return server_.name(); }
  [[nodiscard]] bool is_of(const Inbox& inbox) const { return inbox_ == &inbox; }
  void lose(Network::Loss loss, std::size_t later) {
    if (loss == Network::Loss::now) return broken("connection reset by peer");
    later_ = later;
    loss == Network::Loss::twice ? (void)(twice_ = true) : (void)(loss_ = loss);
  }
  void forget_loss() {
    loss_.reset();
    later_ = 0;
    twice_ = false;
  }

 private:
  struct Direction {
    struct Sent {
      Instant due;
      std::function<void()> arrive;
    };
    std::deque<Sent> on_its_way;
    Instant last{};  ///< departure of the last sent byte
  };

  /// Sends a part of the bytes and breaks the connection. Redis executes complete commands.
  std::size_t write_part(std::string_view bytes) {
    loss_.reset();
    const std::size_t size = network_.random_.below(bytes.size() + 1);
    later(to_server_, size, [this, sent = std::string(bytes.substr(0, size))]() mutable {
      if (connected_) server_.received(*this, std::move(sent));
      lost();
    });
    return bytes.size();
  }
  /// Delivers in order, after the delay of the line.
  void later(Direction& direction, std::size_t size, std::function<void()> arrive) {
    if (ended_) return;
    const auto takes = Duration(static_cast<std::int64_t>(size) * 1000 / line_.bytes_per_ms);
    direction.last = std::max(direction.last, network_.world_.now()) + takes;
    const Instant due = direction.last + network_.random_.between(line_.least, line_.most);
    auto& sent = direction.on_its_way;
    const Instant not_before = sent.empty() ? due : std::max(due, sent.back().due);
    sent.push_back({not_before, std::move(arrive)});
    if (sent.size() == 1) pump(direction);
  }
  void pump(Direction& direction) {
    if (direction.on_its_way.empty()) return;
    network_.world_.at(direction.on_its_way.front().due,
                       [this, self = shared_from_this(), &direction] {
                         if (direction.on_its_way.empty()) return;
                         if (line_.held || (&direction == &to_server_ && server_.hangs())) {
                           direction.on_its_way.front().due = network_.world_.now() + held_pause;
                           return pump(direction);
                         }
                         const auto arrive = std::move(direction.on_its_way.front().arrive);
                         direction.on_its_way.pop_front();
                         pump(direction);
                         arrive();
                       });
  }
  void notify(std::function<void()> what) {
    if (inbox_ == nullptr) return;
    inbox_->deliver([this, self = shared_from_this(), what = std::move(what)] {
      if (handler_ != nullptr) what();
    });
  }
  void leave_server() {
    if (!std::exchange(connected_, false)) return;
    server_.gone(*this);
  }
  void lost() {
    if (!ended_) network_.on_loss(host_, server_.name());
    broken("connection reset by peer");
  }
  void broken(const std::string& why) {
    if (std::exchange(ended_, true)) return;
    to_server_.on_its_way.clear();
    leave_server();
    // Half a reply arrives before the host notices the break.
    if (loss_ != Network::Loss::part) to_host_.on_its_way.clear();
    network_.world_.after(std::chrono::milliseconds(2), [this, self = shared_from_this(), why] {
      to_host_.on_its_way.clear();
      notify([this, why] { handler_->on_broken(why); });
    });
  }

  Network& network_;
  Service& server_;
  Inbox* inbox_;
  const std::string host_;
  Handler* handler_;
  Line& line_;
  bool connected_ = false;
  bool ended_ = false;
  std::optional<Network::Loss> loss_;
  std::size_t later_ = 0;  ///< replies that arrive before the loss
  bool twice_ = false;
  bool full_ = false;
  std::size_t unread_ = 0;  ///< bytes that the server has not read yet
  Direction to_server_;
  Direction to_host_;
};

namespace {

class SimulatedTransport final : public loop::Transport {
 public:
  explicit SimulatedTransport(std::shared_ptr<SimulatedConnection> wire) : wire_(std::move(wire)) {}
  ~SimulatedTransport() override { close(); }
  SimulatedTransport(const SimulatedTransport&) = delete;
  SimulatedTransport& operator=(const SimulatedTransport&) = delete;

  void connect() override { wire_->connect(); }
  std::size_t write(std::string_view bytes) override {
    return wire_ ? wire_->write(bytes) : bytes.size();
  }
  void close() override {
    if (wire_) std::exchange(wire_, nullptr)->release();
  }

 private:
  std::shared_ptr<SimulatedConnection> wire_;
};

}  // namespace

void Network::detach(const loop::Loop& loop) {
  const auto found = inboxes_.find(&loop);
  if (found == inboxes_.end()) return;
  for (const auto& weak : wires_)
    if (const auto wire = weak.lock(); wire && wire->is_of(*found->second)) wire->cut_off();
  inboxes_.erase(found);
}

void Network::lose(const std::string& host, const std::string& server, Loss loss,
                   std::size_t later) {
  std::erase_if(wires_, [](const auto& wire) { return wire.expired(); });
  for (const auto& weak : std::vector(wires_))
    if (const auto wire = weak.lock(); wire && wire->name() == host && wire->server() == server)
      wire->lose(loss, later);
}

void Network::forget_losses() {
  for (const auto& weak : wires_)
    if (const auto wire = weak.lock()) wire->forget_loss();
}

std::unique_ptr<loop::Transport> Network::make(loop::Loop& loop, const std::string& server,
                                               loop::Transport::Handler& handler) {
  auto wire = std::make_shared<SimulatedConnection>(*this, *servers_.at(server),
                                                    *inboxes_.at(&loop), handler);
  wires_.push_back(wire);
  return std::make_unique<SimulatedTransport>(std::move(wire));
}

}  // namespace w8y::sim
