#include "ops/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <sstream>
#include <string_view>

#include "core/ascii.hpp"
#include "core/escape.hpp"
#include "ops/commit.hpp"
#include "ops/process_stats.hpp"

namespace w8y::ops {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<std::pair<const char*, std::string>>;

double seconds_of(Duration time) {
  return std::chrono::duration<double>(time).count();
}

/// One metric with all its samples. Samples are written in parts, and the last part in the
/// destructor, so that memory holds a part of one metric at a time.
class Family {
 public:
  Family(std::ostream& out, std::string name, std::string help, MetricType type) : out_(out) {
    family_.name = std::move(name);
    family_.help = std::move(help);
    family_.type = type;
  }
  ~Family() { write(); }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  void add(double value, Labels labels = {}) {
    ClientMetric& metric = next(std::move(labels));
    (family_.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  }
  void add(std::uint64_t value, Labels labels = {}) {
    add(static_cast<double>(value), std::move(labels));
  }
  template <const auto& Bounds>
  void add(const Histogram<Bounds>& times, Labels labels = {}) {
    ClientMetric::Histogram& histogram = next(std::move(labels)).histogram;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i <= Histogram<Bounds>::bounds; ++i) {
      sum += times.count(i);
      const double bound = i < Histogram<Bounds>::bounds ? Histogram<Bounds>::bound(i)
                                                         : std::numeric_limits<double>::infinity();
      histogram.bucket.push_back({sum, bound});
    }
    histogram.sample_count = sum;
    histogram.sample_sum = times.seconds();
  }

 private:
  /// Number of samples of a part. A sample needs some hundred bytes.
  static constexpr std::size_t max_part = 4096;

  ClientMetric& next(Labels labels) {
    if (family_.metric.size() == max_part) write();
    ClientMetric& metric = family_.metric.emplace_back();
    for (auto& [name, value] : labels) {
      ClientMetric::Label& label = metric.label.emplace_back();
      label.name = name;
      label.value = std::move(value);
    }
    return metric;
  }

  /// Writes the samples. Only the first part starts with the lines HELP and TYPE.
  void write() {
    if (!std::exchange(started_, true)) {
      prometheus::TextSerializer().Serialize(out_, {family_});
    } else if (!family_.metric.empty()) {
      std::ostringstream part;
      prometheus::TextSerializer().Serialize(part, {family_});
      std::string_view text = part.view();
      while (text.starts_with('#')) text.remove_prefix(text.find('\n') + 1);
      out_ << text;
    }
    family_.metric.clear();
  }

  std::ostream& out_;
  MetricFamily family_;
  bool started_ = false;
};

/// Writes all metrics of a host in order.
class Writer {
 public:
  explicit Writer(const HostMetrics& metrics) : metrics_(metrics) {}

  std::string write() {
    write_host();
    write_redis();
    write_runs();
    write_claims();
    write_lists();
    write_schedules();
    write_output();
    write_process();
    return std::move(out_).str();
  }

 private:
  Family counter(const char* name, const char* help) {
    return {out_, name, help, MetricType::Counter};
  }
  Family gauge(const char* name, const char* help) { return {out_, name, help, MetricType::Gauge}; }
  Family histogram(const char* name, const char* help) {
    return {out_, name, help, MetricType::Histogram};
  }
  /// Label value for the name of a list. The name may be any bytes; a label value is UTF-8.
  static std::string label(const std::string& prefix) {
    return is_utf8(prefix) ? prefix : escape(prefix);
  }
  /// Calls `visit` with the name and the metrics of each list that has run on this host.
  template <typename Visit>
  void each_run(Visit visit) const {
    for (const ListMetrics& list : metrics_.lists)
      if (list.living && list.living->ran) visit(label(list.prefix), *list.living);
  }
  template <typename Visit>
  void each_known(Visit visit) const {
    for (const ListMetrics& list : metrics_.lists)
      if (list.living && list.living->stats)
        visit(label(list.prefix), *list.living, *list.living->stats);
  }

  void write_host();
  void write_redis();
  void write_runs();
  void write_claims();
  void write_lists();
  void write_schedules();
  void write_output();
  void write_process();

  const HostMetrics& metrics_;
  std::ostringstream out_;
};

void Writer::write_host() {
  const HostStatus& host = metrics_.host;
  gauge("w8y_build_info", "Always 1; the labels are the version and commit of w8yd.")
      .add(1.0, {{"version", host.version}, {"commit", W8Y_COMMIT}});
  gauge("w8y_config_info", "Always 1; the labels are the generation and hash of the config.")
      .add(1.0, {{"generation", std::to_string(host.generation)}, {"hash", host.config_hash}});
  gauge("w8y_slots_used", "Slots of host_concurrency in use.").add(host.slots_used);
  gauge("w8y_slots_limit", "host_concurrency; +Inf = no limit.")
      .add(host.slots_limit > 0 ? static_cast<double>(host.slots_limit)
                                : std::numeric_limits<double>::infinity());
  gauge("w8y_leases", "Leases of this host.").add(host.redis.leases);
  {
    Family margin =
        gauge("w8y_lease_margin_seconds",
              "Smallest recent lease margin: time left on a lease when its renewal was confirmed.");
    if (host.redis.lease_margin) margin.add(seconds_of(*host.redis.lease_margin));
  }
  {
    Family expiry =
        gauge("w8y_key_expiry_seconds", "Shortest key_expiry of the lists that this host serves.");
    if (metrics_.key_expiry) expiry.add(seconds_of(*metrics_.key_expiry));
  }
  histogram("w8y_loop_lag_seconds", "Delay of timers on the event loop.").add(metrics_.loop_lag);
  gauge("w8y_settlements_pending", "Settlements that Redis has not confirmed.")
      .add(metrics_.settlements_waiting);
  {
    Family reloads = counter("w8y_reloads_total", "Reloads of the config.");
    reloads.add(metrics_.reloads_applied, {{"result", "applied"}});
    reloads.add(metrics_.reloads_failed, {{"result", "failed"}});
  }
  gauge("w8y_reload_last_success",
        "1 if the last reload was applied or there was no reload, else 0.")
      .add(metrics_.last_reload_succeeded ? 1.0 : 0.0);
  histogram("w8y_probe_duration_seconds", "Duration of probes.").add(metrics_.probes);
  {
    Family failures = counter("w8y_spawn_failures_total", "Runs that could not be started.");
    failures.add(metrics_.not_started[0], {{"reason", "shortage"}});
    failures.add(metrics_.not_started[1], {{"reason", "missing"}});
    failures.add(metrics_.not_started[2], {{"reason", "other"}});
  }
  const FleetCounts alone{1, 0, 0, {}};
  const FleetCounts& fleet = metrics_.fleet ? *metrics_.fleet : alone;
  gauge("w8y_fleet_hosts", "Hosts of the fleet that send heartbeats.").add(fleet.hosts);
  gauge("w8y_fleet_hosts_outdated", "Hosts whose config is older than that of another host.")
      .add(fleet.outdated);
  gauge("w8y_fleet_hosts_unresponsive",
        "Hosts whose heartbeats have stopped and that have not restarted.")
      .add(fleet.unresponsive);
}

void Writer::write_redis() {
  const RedisStatus& redis = metrics_.host.redis;
  gauge("w8y_redis_up", "1 if Redis is available.")
      .add(redis.connected && redis.error.empty() ? 1.0 : 0.0);
  histogram("w8y_redis_rtt_seconds", "Time from a Redis command to its reply.")
      .add(metrics_.redis_answered);
  {
    Family commands = counter("w8y_redis_commands_total", "Commands and scripts sent to Redis.");
    for (const auto& [kind, count] : metrics_.redis_commands)
      commands.add(count, {{"command", core::lower(label(kind))}});
  }
  Family bytes = counter("w8y_redis_bytes_total", "Bytes on connections to Redis.");
  bytes.add(metrics_.redis_bytes_in, {{"direction", "in"}});
  bytes.add(metrics_.redis_bytes_out, {{"direction", "out"}});
}

void Writer::write_runs() {
  {
    Family runs = counter("w8y_runs_total", "Finished runs by outcome.");
    each_run([&](const std::string& list, const ActiveListMetrics& of) {
      const RunCounters& counters = of.counters;
      for (const auto& [outcome, count] :
           {std::pair("succeeded", counters.succeeded), std::pair("failed", counters.failed),
            std::pair("crashed", counters.crashed), std::pair("timed_out", counters.timed_out),
            std::pair("cancelled", counters.cancelled), std::pair("lost", counters.lost)})
        runs.add(count, {{"list", list}, {"outcome", outcome}});
    });
  }
  {
    Family seconds = histogram("w8y_run_duration_seconds", "Duration of runs.");
    each_run([&](const std::string& list, const ActiveListMetrics& of) {
      seconds.add(of.run_stats.runs, {{"list", list}});
    });
  }
  {
    Family cpu = counter("w8y_run_cpu_seconds_total", "CPU time of finished processes.");
    each_run([&](const std::string& list, const ActiveListMetrics& of) {
      if (of.counters.used.cpu) cpu.add(seconds_of(*of.counters.used.cpu), {{"list", list}});
    });
  }
  {
    Family memory =
        gauge("w8y_run_peak_memory_bytes", "Largest peak memory of finished processes.");
    each_run([&](const std::string& list, const ActiveListMetrics& of) {
      if (of.counters.used.peak_memory) memory.add(*of.counters.used.peak_memory, {{"list", list}});
    });
  }
  {
    Family active = gauge("w8y_runs_active", "Active runs on this host.");
    each_run([&](const std::string& list, const ActiveListMetrics& of) {
      active.add(of.running, {{"list", list}});
    });
  }
  {
    Family successes = gauge("w8y_list_last_success_timestamp_seconds",
                             "End of the last run that succeeded on this host, as Unix time.");
    each_run([&](const std::string& list, const ActiveListMetrics& of) {
      const WallTime last = of.run_stats.last_success;
      if (last > WallTime{0})
        successes.add(std::chrono::duration<double>(last).count(), {{"list", list}});
    });
  }
  Family lost = counter("w8y_leases_lost_total", "Runs whose lease was lost.");
  each_run([&](const std::string& list, const ActiveListMetrics& of) {
    lost.add(of.counters.leases_lost, {{"list", list}});
  });
}

void Writer::write_claims() {
  /// In the order of ClaimEnd.
  static constexpr const char* results[] = {"claimed",     "nothing_free", "empty",
                                            "paused",      "halted",       "fleet_full",
                                            "unavailable", "refused",      "breaker"};
  {
    Family claims = counter("w8y_claims_total", "Claims by result.");
    each_run([&](const std::string& list, const ActiveListMetrics& of) {
      for (std::size_t i = 0; i < std::size(results); ++i)
        claims.add(of.run_stats.claim_ends[i], {{"list", list}, {"result", results[i]}});
    });
  }
  Family seconds = histogram("w8y_claim_duration_seconds", "Duration of claims.");
  each_run([&](const std::string& list, const ActiveListMetrics& of) {
    seconds.add(of.run_stats.claims, {{"list", list}});
  });
}

void Writer::write_lists() {
  {
    Family states = gauge("w8y_list_state", "1 for the state of the list on this host, else 0.");
    for (const ListMetrics& list : metrics_.lists)
      for (const ListState state : all_list_states)
        states.add(state == list.state ? 1.0 : 0.0,
                   {{"list", label(list.prefix)}, {"state", state_name(state)}});
  }
  {
    Family items = gauge("w8y_items", "Items in Redis by state.");
    each_known([&](const std::string& list, const ActiveListMetrics&, const ListStats& stats) {
      for (const auto& [state, count] : stats.items)
        if (state != "length") items.add(count, {{"list", list}, {"state", state}});
    });
  }
  {
    Family cycle =
        gauge("w8y_cycle_seconds", "Cycle time: median time between two runs of an item.");
    each_known([&](const std::string& list, const ActiveListMetrics&, const ListStats& stats) {
      if (stats.cycle) cycle.add(seconds_of(*stats.cycle), {{"list", list}});
    });
  }
  {
    Family oldest =
        gauge("w8y_longest_wait_seconds", "Longest time that a free item has waited for its run.");
    each_known([&](const std::string& list, const ActiveListMetrics&, const ListStats& stats) {
      if (stats.longest_wait) oldest.add(seconds_of(*stats.longest_wait), {{"list", list}});
    });
  }
  {
    Family slots = gauge("w8y_list_slots_needed",
                         "Slots that the list needs in the fleet to stay within overdue_after.");
    each_known([&](const std::string& list, const ActiveListMetrics&, const ListStats& stats) {
      if (stats.slots_needed) slots.add(*stats.slots_needed, {{"list", list}});
    });
  }
  Family within = gauge("w8y_overdue_after_seconds", "overdue_after of the list.");
  for (const ListMetrics& list : metrics_.lists)
    if (list.living && list.living->overdue_after > Duration{0})
      within.add(seconds_of(list.living->overdue_after), {{"list", label(list.prefix)}});
}

void Writer::write_schedules() {
  {
    Family late = histogram("w8y_schedule_lateness_seconds",
                            "Lateness of jobs of a schedule when they were queued.");
    each_run([&](const std::string& list, const ActiveListMetrics& of) {
      if (of.is_due_by_time) late.add(of.run_stats.late, {{"list", list}});
    });
  }
  Family due = gauge("w8y_schedule_due", "Jobs of a schedule that are due and not queued.");
  each_known([&](const std::string& list, const ActiveListMetrics& of, const ListStats& stats) {
    for (const auto& [state, count] : stats.items)
      if (of.is_due_by_time && state == "due") due.add(count, {{"list", list}});
  });
}

void Writer::write_output() {
  {
    Family lines = counter("w8y_child_output_lines_total", "Lines that children have written.");
    each_run([&](const std::string& list, const ActiveListMetrics& of) {
      lines.add(of.run_stats.lines.output.lines, {{"list", list}, {"stream", "stdout"}});
      lines.add(of.run_stats.lines.errors.lines, {{"list", list}, {"stream", "stderr"}});
    });
  }
  Family dropped = counter("w8y_child_output_dropped_total",
                           "Lines of children that were truncated, or dropped from the log.");
  each_run([&](const std::string& list, const ActiveListMetrics& of) {
    dropped.add(of.run_stats.lines.output.cut, {{"list", list}, {"stream", "stdout"}});
    dropped.add(of.run_stats.lines.errors.cut + of.left_out,
                {{"list", list}, {"stream", "stderr"}});
  });
}

void Writer::write_process() {
  const auto process = process_stats();
  if (!process) return;
  counter("process_cpu_seconds_total", "User and system time of w8yd.").add(process->cpu_seconds);
  gauge("process_open_fds", "Open descriptors.").add(process->open_descriptors);
  gauge("process_max_fds", "Maximum number of open descriptors.").add(process->max_descriptors);
  gauge("process_virtual_memory_bytes", "Virtual memory.").add(process->virtual_bytes);
  gauge("process_resident_memory_bytes", "Resident memory.").add(process->resident_bytes);
  gauge("process_start_time_seconds", "Start time of w8yd, as Unix time.")
      .add(process->start_seconds);
}

}  // namespace

std::string metrics_text(const HostMetrics& metrics) {
  return Writer(metrics).write();
}

}  // namespace w8y::ops
