// /metrics: what this host counts, gathered some lists in a turn of the loop and put into text on a
// thread. Who asks within a second is given the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/control.hpp"
#include "app/host_status.hpp"
#include "app/list_factory.hpp"
#include "app/list_stats_cache.hpp"
#include "core/events.hpp"
#include "core/supervisor.hpp"
#include "core/timers.hpp"
#include "http/http.hpp"
#include "ops/event_log.hpp"
#include "ops/metrics.hpp"

namespace w8y::app {

class Metrics final : public EventHandler, private ListStateSource {
 public:
  struct Parts {
    loop::Loop& loop;
    const Supervisor& supervisor;
    const api::Control& control;
    const ListFactory& factory;
    const ops::EventLog& log;
    const ListStatsCache& stats;
  };
  explicit Metrics(const Parts& parts);
  ~Metrics() override;

  /// Adds GET /metrics. Outlives the router's use.
  void add_to(http::Router& router);

  // of EventHandler
  void on_event(const Event& event) override;
  [[nodiscard]] bool listens() const override { return false; }

 private:
  // of ListStateSource
  void add_to(ListStatus&) const override {}
  [[nodiscard]] WallTime now() const override;

  void answer(const http::HttpReplyPtr& reply);
  void begin();
  void go_on();
  [[nodiscard]] bool step();
  void look_at(const ServedList& list);
  void gathered();
  void told(std::string&& text);

  const Parts parts_;
  std::uint64_t reloads_applied_ = 0;
  std::uint64_t reloads_failed_ = 0;
  // What is being gathered.
  std::vector<http::HttpReplyPtr> waiting_;
  std::unique_ptr<ops::HostMetrics> gathering_;
  std::optional<std::string> last_;  ///< the prefix that was looked at last
  Timer next_;
  // What was told last.
  std::shared_ptr<const std::string> text_;
  Instant told_at_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
