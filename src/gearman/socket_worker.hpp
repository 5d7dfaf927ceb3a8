// Connection of a worker to a gearmand: over TCP, unless the creator provides another transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/timers.hpp"
#include "gearman/packet.hpp"
#include "gearman/worker.hpp"
#include "loop/loop.hpp"
#include "loop/transport.hpp"

namespace w8y::gearman {

/// Creates the transport of a connection; `timeout` limits all attempts to connect together.
using MakeTransport = std::function<std::unique_ptr<loop::Transport>(
    loop::Loop& loop, const GearmanServer& server, Duration timeout,
    loop::Transport::Handler& handler)>;
std::unique_ptr<loop::Transport> over_tcp(loop::Loop& loop, const GearmanServer& server,
                                          Duration timeout, loop::Transport::Handler& handler);

struct WorkerTerms {
  GearmanServer server;
  std::string client_id;                               ///< shown by `gearadmin --workers`
  Duration connect_timeout = std::chrono::seconds(5);  ///< until the first reply of the server
  std::size_t max_workload = 0;
  std::uint64_t seed = 0;  ///< seed of the random part of the pauses between attempts
  MakeTransport make = over_tcp;
};

class SocketWorker final : public Worker, private loop::Transport::Handler {
 public:
  /// Connects in the next loop iteration.
  SocketWorker(loop::Loop& loop, WorkerTerms terms, WorkerHandler& handler);
  ~SocketWorker() override;
  SocketWorker(const SocketWorker&) = delete;
  SocketWorker& operator=(const SocketWorker&) = delete;

  [[nodiscard]] State state() const override { return state_; }
  [[nodiscard]] const GearmanServer& server() const override { return terms_.server; }
  [[nodiscard]] const std::string& error() const override { return error_; }
  [[nodiscard]] std::size_t requested() const override { return grabs_.size(); }
  [[nodiscard]] bool asleep() const override { return asleep_; }
  void offer(const std::string& function, bool able) override;
  void grab() override;
  void sleep() override;
  void send(std::string packet) override;
  std::uint64_t mark() override;

  /// Time limit for a reply, after which the connection is closed. The worker sends an echo request
  /// when it has received nothing for a third of this time.
  static constexpr Duration timeout = std::chrono::seconds(30);

 private:
  // Transport::Handler
  void on_connected() override;
  void on_bytes(std::string_view bytes) override;
  void on_room() override { flush(); }
  void on_broken(const std::string& why) override;

  void attempt();
  void answered_first();
  void handle_packet(Packet&& packet);
  void handle_job(const Packet& packet, bool cut);
  void handle_echo(const Packet& packet);
  [[nodiscard]] bool handle_answer();
  void confirm(std::uint64_t mark);
  void end(const std::string& why);
  void write(std::string packet);
  void send_offer();
  void flush();
  void flush_soon();
  void watch();
  Duration pause();

  loop::Loop& loop_;
  const WorkerTerms terms_;
  WorkerHandler& handler_;
  State state_ = State::down;
  std::string error_;
  bool reported_down_ = false;
  std::string function_;
  bool able_ = false;
  std::string offered_;  ///< function offered on this connection; empty: none
  bool asleep_ = false;
  /// Calls of grab() in flight, the oldest first: the mark that the reply confirms, since a server
  /// replies in the order of the requests. 0: none.
  std::deque<std::uint64_t> grabs_;
  std::uint64_t marks_ = 0;       ///< the last mark sent
  std::uint64_t marks_back_ = 0;  ///< the last mark confirmed
  bool mark_due_ = false;
  bool grab_behind_ = false;  ///< grab() was called since mark()
  Instant received_{};
  Instant question_since_{};  ///< time of the oldest request in flight; valid while there is one
  std::uint64_t random_;
  Duration pause_{0};
  Instant up_since_{};
  std::unique_ptr<loop::Transport> transport_;
  std::vector<std::unique_ptr<loop::Transport>> dead_;  // they may be in their own callbacks
  std::unique_ptr<PacketReader> reader_;
  std::string out_;
  std::size_t sent_ = 0;
  Timer timer_;  ///< next attempt, timeout of an attempt, next check of a silent server
  Timer stuck_;
  bool flush_due_ = false;
  std::unique_ptr<loop::Loop::BeforeWait> flush_;  ///< set while there was output recently
  Timer silent_;
};

}  // namespace w8y::gearman
