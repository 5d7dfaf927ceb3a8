#include "simulation/network.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace w8y::sim {

namespace {

/// How often what is held up is looked at again.
constexpr Duration held_pause = std::chrono::milliseconds(10);

}  // namespace

/// One connection. Its own: until both sides have let go of it.
class Wire final : public Server::Peer, public std::enable_shared_from_this<Wire> {
 public:
  using Handler = redis::Transport::Handler;

  Wire(Network& network, Server& server, Inbox& inbox, Handler& handler)
      : network_(network),
        server_(server),
        inbox_(&inbox),
        host_(inbox.name()),
        handler_(&handler),
        line_(network.line(host_, server.name())) {}
  ~Wire() override { leave_server(); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void connect() {
    later(to_server_, [this] {
      if (line_.refused || !server_.accepts()) return broken("connection refused");
      connected_ = true;
      server_.connected(*this);
      later(to_host_, [this] { tell([this] { handler_->on_connected(); }); });
    });
  }
  void write(std::string bytes) {
    if (loss_ == Network::Loss::request) return broken("connection reset by peer");
    later(to_server_, [this, bytes = std::move(bytes)]() mutable {
      if (connected_) server_.received(*this, std::move(bytes));
    });
  }
  /// By the host, which hears nothing more.
  void let_go() {
    handler_ = nullptr;
    if (connected_) later(to_server_, [this] { leave_server(); });
  }
  /// The host is gone.
  void cut_off() {
    inbox_ = nullptr;
    let_go();
  }

  // of Server::Peer
  void replied(std::string bytes) override {
    if (loss_ == Network::Loss::reply) return broken("connection reset by peer");
    if (loss_ == Network::Loss::part) bytes.resize(bytes.size() / 2);
    later(to_host_,
          [this, bytes = std::move(bytes)] { tell([this, bytes] { handler_->on_bytes(bytes); }); });
    if (loss_ == Network::Loss::part) broken("connection reset by peer");
  }
  void closed() override {
    connected_ = false;
    broken("connection closed");
  }
  [[nodiscard]] const std::string& name() const override { return host_; }
  [[nodiscard]] const std::string& server() const { return server_.name(); }
  [[nodiscard]] bool is_of(const Inbox& inbox) const { return inbox_ == &inbox; }
  void lose(Network::Loss loss) {
    loss == Network::Loss::now ? broken("connection reset by peer") : (void)(loss_ = loss);
  }

 private:
  struct Direction {
    struct Sent {
      Instant due;
      std::function<void()> arrive;
    };
    std::deque<Sent> on_its_way;
  };

  /// In order, and not before the line lets it through.
  void later(Direction& direction, std::function<void()> arrive) {
    if (over_) return;
    const Instant due = network_.world_.now() + network_.random_.between(line_.least, line_.most);
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
                         if (line_.held) {
                           direction.on_its_way.front().due = network_.world_.now() + held_pause;
                           return pump(direction);
                         }
                         const auto arrive = std::move(direction.on_its_way.front().arrive);
                         direction.on_its_way.pop_front();
                         pump(direction);
                         arrive();
                       });
  }
  void tell(std::function<void()> what) {
    if (inbox_ == nullptr) return;
    inbox_->deliver([this, self = shared_from_this(), what = std::move(what)] {
      if (handler_ != nullptr) what();
    });
  }
  void leave_server() {
    if (!std::exchange(connected_, false)) return;
    server_.gone(*this);
  }
  void broken(const std::string& why) {
    if (std::exchange(over_, true)) return;
    to_server_.on_its_way.clear();
    leave_server();
    // What has been on its way to the host comes first, if it is half a reply.
    if (loss_ != Network::Loss::part) to_host_.on_its_way.clear();
    network_.world_.after(std::chrono::milliseconds(2), [this, self = shared_from_this(), why] {
      to_host_.on_its_way.clear();
      tell([this, why] { handler_->on_broken(why); });
    });
  }

  Network& network_;
  Server& server_;
  Inbox* inbox_;
  const std::string host_;
  Handler* handler_;
  Line& line_;
  bool connected_ = false;
  bool over_ = false;
  std::optional<Network::Loss> loss_;
  Direction to_server_;
  Direction to_host_;
};

namespace {

class SimulatedTransport final : public redis::Transport {
 public:
  explicit SimulatedTransport(std::shared_ptr<Wire> wire) : wire_(std::move(wire)) {}
  ~SimulatedTransport() override { close(); }
  SimulatedTransport(const SimulatedTransport&) = delete;
  SimulatedTransport& operator=(const SimulatedTransport&) = delete;

  void connect() override { wire_->connect(); }
  std::size_t write(std::string_view bytes) override {
    if (wire_) wire_->write(std::string(bytes));
    return bytes.size();
  }
  void close() override {
    if (wire_) std::exchange(wire_, nullptr)->let_go();
  }

 private:
  std::shared_ptr<Wire> wire_;
};

}  // namespace

void Network::detach(const loop::Loop& loop) {
  const auto found = inboxes_.find(&loop);
  if (found == inboxes_.end()) return;
  for (const auto& weak : wires_)
    if (const auto wire = weak.lock(); wire && wire->is_of(*found->second)) wire->cut_off();
  inboxes_.erase(found);
}

void Network::lose(const std::string& host, const std::string& server, Loss loss) {
  std::erase_if(wires_, [](const auto& wire) { return wire.expired(); });
  for (const auto& weak : std::vector(wires_))
    if (const auto wire = weak.lock(); wire && wire->name() == host && wire->server() == server)
      wire->lose(loss);
}

std::unique_ptr<redis::Transport> Network::make(loop::Loop& loop, const std::string& server,
                                                redis::Transport::Handler& handler) {
  auto wire = std::make_shared<Wire>(*this, *servers_.at(server), *inboxes_.at(&loop), handler);
  wires_.push_back(wire);
  return std::make_unique<SimulatedTransport>(std::move(wire));
}

}  // namespace w8y::sim
