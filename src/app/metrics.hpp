// /metrics: counters of this host, collected for some lists per loop iteration and encoded on a
// thread. Requests within one second receive the same response.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/control.hpp"
#include "app/host_status.hpp"
#include "app/list_factory.hpp"
#include "app/list_iteration.hpp"
#include "app/list_stats_cache.hpp"
#include "core/events.hpp"
#include "core/supervisor.hpp"
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

  /// Adds GET /metrics. Must outlive `router`.
  void add_to(http::Router& router);

  // EventHandler
  void on_event(const Event& event) override;
  [[nodiscard]] bool listens() const override { return false; }

 private:
  // ListStateSource
  void add_to(ListStatus&) const override {}
  [[nodiscard]] WallTime now() const override;

  void respond(const http::HttpReplyPtr& reply);
  void begin();
  void record_list(const ListStatus& status, const ServedList& list);
  void gathered();
  void on_written(std::string&& text);

  const Parts parts_;
  std::uint64_t reloads_applied_ = 0;
  std::uint64_t reloads_failed_ = 0;
  bool last_reload_succeeded_ = true;
  // Collection in progress.
  std::vector<http::HttpReplyPtr> waiting_;
  std::unique_ptr<ops::HostMetrics> gathering_;
  ListIteration walk_;
  // Latest response.
  std::shared_ptr<const std::string> text_;
  Instant updated_at_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
