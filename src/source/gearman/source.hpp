// Source of jobs of a Gearman function, with one connection to each server.
//
// The connection is the lease. When it breaks, the server gives its jobs to other workers. So a job
// can be handed back only by the end of a connection. A Line is one connection and its state:
//
//   asked    requests for jobs are in flight
//   dry      the server had no job; sleeps when all requests have a reply
//   slow     it does not reply to requests; claims do not wait for it
//   leaving  no more jobs are claimed; it ends when its jobs have ended
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/run_id.hpp"
#include "core/source.hpp"
#include "core/timers.hpp"
#include "gearman/worker.hpp"
#include "store/gearman/records.hpp"

namespace w8y::source {

/// Objects that the Gearman sources of a host share.
struct GearmanHost {
  const Clock& clock;
  TimerQueue& timers;
  RunIds& run_ids;
  gearman::Servers& servers;
};

class GearmanSource final : public Source,
                            private gearman::WorkerHandler,
                            private gearman::ServersUser,
                            private store::GearmanRecordsHandler {
 public:
  /// Makes the records in Redis; returns nullptr if there is no Redis.
  using MakeRecords =
      std::function<std::unique_ptr<store::GearmanRecords>(store::GearmanRecordsHandler&)>;
  GearmanSource(const GearmanHost& host, SourceHandler& handler, const MakeRecords& make);
  ~GearmanSource() override;

  void use(ListConfigPtr rule) override;
  [[nodiscard]] bool may_claim() const override { return !resting_ || !late_.empty(); }
  void claim(std::size_t wanted) override;
  void stop_waiting() override;
  void retire() override;
  void settle(EndedRun&& run) override;
  void hand_back(const Claim& claim) override;
  /// A job is free only when all jobs of its connection have ended.
  [[nodiscard]] bool frees_at_once() const override { return false; }
  [[nodiscard]] bool may_start(const Claim& claim) const override;
  void announce(const RunEvent& event) override;
  void completed(const Claim& claim, const std::string& result) override;
  [[nodiscard]] std::size_t unsettled() const override;

  /// Time after which a claim no longer waits for a server that does not reply.
  static constexpr Duration patience = std::chrono::milliseconds(250);

 private:
  /// Maximum number of requests in flight on one connection. The number grows as jobs arrive.
  static constexpr std::size_t most_asked = 64;

  struct Line {
    std::unique_ptr<gearman::Worker> worker;
    std::size_t allowance = 1;
    std::size_t jobs = 0;  ///< runs, claims, and settlements that the server has not confirmed
    std::uint64_t confirmed = 0;
    bool dry = false;
    bool slow = false;
    bool answered = true;  ///< whether anything was received since slow_timer_ was set
    bool leaving = false;
  };
  struct Held {
    Line* line = nullptr;  ///< nullptr = the connection has ended
    std::string handle;
    std::uint64_t mark = 0;  ///< with which its result was sent; 0 = not sent
    bool lost = false;       ///< the connection ended before the server confirmed the result
    GearmanServer server{};  ///< server of the connection that has ended
  };
  struct End {
    EndedRun run;
    Line* line;
    std::uint64_t mark;
  };

  // gearman::WorkerHandler
  void on_up(gearman::Worker& worker) override;
  void on_down(gearman::Worker& worker, const std::string& why) override;
  void on_job(gearman::Worker& worker, gearman::Job&& job) override;
  void on_no_job(gearman::Worker& worker) override;
  void on_woken(gearman::Worker& worker) override;
  void on_confirmed(gearman::Worker& worker, std::uint64_t mark) override;
  void on_error(gearman::Worker& worker, const std::string& why) override;
  // gearman::ServersUser
  void on_servers() override;
  void add_to(std::vector<GearmanStatus>& servers) const override;
  // store::GearmanRecordsHandler
  void on_pause() override;
  void on_recorded() override { tell_if_settled(); }
  void on_record_refused(const std::string& why) override { told_.on_unwritten(why); }

  /// Returns the connection of a worker; nullptr if the connection was released in a callback of
  /// its own. Its further jobs return to the server when it ends.
  [[nodiscard]] Line* line_of(const gearman::Worker& worker);
  void open(const GearmanServer& server);
  void leave(Line& line);
  void let_go(Line& line);
  void release(Line* line);
  void offer_again();
  void offer(bool able);
  void show(Line& line);
  [[nodiscard]] static bool is_busy(const Line& line) {
    return line.jobs > 0 || line.worker->requested() > 0;
  }
  [[nodiscard]] bool paused() const { return records_ && records_->pause().has_value(); }
  [[nodiscard]] std::size_t asked() const;
  void ask();
  Line* next_line();
  void begin_claim();
  void go_on();
  void answer();
  [[nodiscard]] ClaimReply reply();
  void watch_slow();
  void stir();
  Claim hold(Line& line, gearman::Job&& job);
  void lose(Line& line);
  void drop_lost(std::vector<Claim>& claims);
  void record(EndedRun&& run, bool lost);
  void tell_if_settled();

  const GearmanHost host_;
  SourceHandler& told_;
  ListConfigPtr rule_;
  std::unique_ptr<store::GearmanRecords> records_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::size_t turn_ = 0;       ///< index in lines_ of the next request
  std::size_t wanted_ = 0;     ///< number of jobs that the claim in flight requests
  bool able_ = false;          ///< whether the function is offered to the servers
  bool out_ = false;           ///< whether a claim is in flight
  bool still_wanted_ = false;  ///< false after stop_waiting(), until the next claim
  bool resting_ = false;
  bool retired_ = false;
  std::vector<Claim> claims_;  ///< jobs received for the claim in flight
  std::vector<Claim> late_;    ///< jobs that arrived without a claim, or in excess of it
  std::map<RunId, Held> held_;
  std::map<RunId, End> ends_;                ///< ends that the servers have not confirmed
  std::vector<std::unique_ptr<Line>> gone_;  ///< connections to destroy outside of their callbacks
  Timer answer_;
  Timer slow_timer_;
  Timer sweep_;
};

}  // namespace w8y::source
