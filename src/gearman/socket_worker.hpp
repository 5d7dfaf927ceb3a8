// A worker's connection to a gearmand: over TCP, unless who makes it says otherwise.
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

/// What carries a connection's bytes; the whole of connecting may take `timeout`.
using MakeTransport = std::function<std::unique_ptr<loop::Transport>(
    loop::Loop& loop, const GearmanServer& server, Duration timeout,
    loop::Transport::Handler& handler)>;
std::unique_ptr<loop::Transport> over_tcp(loop::Loop& loop, const GearmanServer& server,
                                          Duration timeout, loop::Transport::Handler& handler);

struct WorkerTerms {
  GearmanServer server;
  std::string client_id;                               ///< what `gearadmin --workers` shows
  Duration connect_timeout = std::chrono::seconds(5);  ///< until it has answered once
  std::size_t max_workload = 0;
  std::uint64_t seed = 0;  ///< of the pauses between tries
  MakeTransport make = over_tcp;
};

class SocketWorker final : public Worker, private loop::Transport::Handler {
 public:
  /// Begins with the next turn of the loop.
  SocketWorker(loop::Loop& loop, WorkerTerms terms, WorkerHandler& handler);
  ~SocketWorker() override;
  SocketWorker(const SocketWorker&) = delete;
  SocketWorker& operator=(const SocketWorker&) = delete;

  [[nodiscard]] State state() const override { return state_; }
  [[nodiscard]] const GearmanServer& server() const override { return terms_.server; }
  [[nodiscard]] const std::string& error() const override { return error_; }
  [[nodiscard]] std::uint64_t connection() const override { return connection_; }
  [[nodiscard]] std::size_t asked() const override { return grabs_.size(); }
  [[nodiscard]] bool asleep() const override { return asleep_; }
  void offer(const std::string& function, bool able) override;
  void grab() override;
  void sleep() override;
  void send(std::string packet) override;
  std::uint64_t mark() override;

  /// A server that leaves a question unanswered for so long is gone, whatever its socket says; and
  /// one of which nothing was heard for a third of it is asked.
  static constexpr Duration timeout = std::chrono::seconds(30);

 private:
  // of Transport::Handler
  void on_connected() override;
  void on_bytes(std::string_view bytes) override;
  void on_room() override { flush(); }
  void on_broken(const std::string& why) override;

  void attempt();
  void answered_first();
  void take(Packet&& packet);
  void take_job(const Packet& packet, bool cut);
  void take_echo(const Packet& packet);
  [[nodiscard]] bool take_answer();
  void confirm(std::uint64_t mark);
  void end(const std::string& why);
  void write(std::string packet);
  void say_offer();
  void flush();
  void flush_soon();
  void watch();
  Duration pause();

  loop::Loop& loop_;
  const WorkerTerms terms_;
  WorkerHandler& handler_;
  State state_ = State::down;
  std::string error_;
  bool told_down_ = false;
  std::string function_;
  bool able_ = false;
  std::string offered_;  ///< on this connection; empty: nothing
  bool asleep_ = false;
  /// That are out, the oldest first: the mark that the answer confirms, since a server answers in
  /// the order it is asked; 0: none.
  std::deque<std::uint64_t> grabs_;
  std::uint64_t connection_ = 0;
  std::uint64_t marks_ = 0;       ///< the last one that was said
  std::uint64_t marks_back_ = 0;  ///< the last one that came back
  bool mark_due_ = false;
  bool grab_behind_ = false;  ///< since mark() was asked
  Instant heard_{};
  Instant question_since_{};  ///< the oldest one that is not answered; while there is one
  std::uint64_t random_;
  Duration pause_{0};
  Instant up_since_{};
  std::unique_ptr<loop::Transport> transport_;
  std::vector<std::unique_ptr<loop::Transport>> dead_;  // they may be in their own callbacks
  std::unique_ptr<PacketReader> reader_;
  std::string out_;
  std::size_t sent_ = 0;
  Timer timer_;  ///< the next try, the end of one, the next look at a silent server
  Timer stuck_;
  bool flush_due_ = false;
  std::unique_ptr<loop::Loop::BeforeWait> flush_;  ///< while it has had something to say lately
  Timer silent_;
};

}  // namespace w8y::gearman
