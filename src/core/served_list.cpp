#include "core/served_list.hpp"

#include <algorithm>
#include <utility>

namespace w8y {

ServedList::ServedList(const ListHost& host, ListConfigPtr rule)
    : host_(host), config_(std::move(rule)), sweep_(host.timers) {}

ServedList::~ServedList() = default;

/// Maintenance of the list continues even if this host does not serve it.
void ServedList::set_config(ListConfigPtr rule) {
  const bool same = maintenance_ && rule->enabled && rule->kind() == config_->kind();
  config_ = std::move(rule);
  same ? maintenance_->use(config_) : renew_maintenance();
}

void ServedList::renew_maintenance() {
  maintenance_.reset();
  if (config_->enabled && !held_ && state_ != ServingState::closing)
    maintenance_ = host_.factory.make_maintenance(config_, host_.idle, *this);
}

void ServedList::on_maintenance_error(const std::string& why) {
  host_.events.maintenance_changed(*config_, why);
}

void ServedList::on_enqueued(Duration late) {
  if (!totals_) totals_ = std::make_unique<Totals>();
  totals_->run_stats.late.add(late);
}

void ServedList::decide(ListConfigPtr rule, const ProbeResult& answer) {
  if (state_ == ServingState::closing || state_ == ServingState::closed) return;
  Ineligibility refusal;
  std::string program;
  if (const auto* refused = std::get_if<Ineligibility>(&answer)) {
    refusal = *refused;
    if (!refusal.of_host) program = rule->program();
  } else {
    const Caps& caps = std::get<Caps>(answer);
    if (caps != *caps_) caps_.edit() = caps;
    refusal.reason = host_.factory.why_not(*rule, *caps_);
  }

  if (refusal.reason.empty()) {
    refusal_.clear();
    if (state_ != ServingState::serving) {
      set_config(std::move(rule));
      serve();
      host_.events.list_served(*config_, *caps_);
    } else {
      update_config(std::move(rule));
    }
    return;
  }
  set_config(std::move(rule));
  refuse(refusal, program);
}

void ServedList::refuse(const Ineligibility& refusal, const std::string& program) {
  if (state_ == ServingState::closing || state_ == ServingState::closed) return;
  retire();
  std::string shown = refusal.reason + (program.empty() ? "" : " (" + program + ")");
  const bool news = state_ != ServingState::ineligible || refusal_ != shown;
  state_ = ServingState::ineligible;
  refusal_ = std::move(shown);
  if (news) host_.events.list_refused(*config_, refusal);
}

void ServedList::update_config(ListConfigPtr rule) {
  const bool other_source = !rule->leases_as(*config_);
  set_config(std::move(rule));
  if (poller_ == nullptr) return;
  if (other_source) return renew_poller();
  poller_->use(config_);
}

void ServedList::serve() {
  state_ = ServingState::serving;
  poller_ = std::make_unique<Poller>(
      PollerHost{host_.clock, host_.timers, host_.slots, host_.events, this}, config_);
  poller_->set_quiet(quiet_ || held_);
  update_reserved();
  poller_->begin(host_.factory.make_source(config_, host_.idle, poller_->source_handler()));
}

void ServedList::reopen(bool quiet, bool held) {
  state_ = ServingState::probing;
  quiet_ = quiet;
  held_ = held;
}

void ServedList::renew() {
  renew_maintenance();
  renew_poller();
}

void ServedList::renew_poller() {
  if (poller_ == nullptr) return;
  retire();
  serve();
}

void ServedList::retire() {
  if (poller_ == nullptr) return;
  retired_.push_back(std::move(poller_));
  retired_.back()->drain();
}

void ServedList::close() {
  if (state_ == ServingState::closing || state_ == ServingState::closed) return;
  retire();
  maintenance_.reset();
  state_ = ServingState::closing;
  sweep_.set(host_.clock.now(), [this] { sweep(); });
}

void ServedList::set_quiet(bool quiet) {
  quiet_ = quiet;
  if (poller_) poller_->set_quiet(quiet_ || held_);
}

void ServedList::set_held(bool held) {
  if (std::exchange(held_, held) == held) return;
  renew_maintenance();
  if (poller_) poller_->set_quiet(quiet_ || held_);
}

void ServedList::stop_runs(StopReason reason) {
  if (poller_) poller_->stop_runs(reason);
  for (auto& poller : retired_) poller->stop_runs(reason);
}

void ServedList::kill_runs(StopReason reason) {
  if (poller_) poller_->kill_runs(reason);
  for (auto& poller : retired_) poller->kill_runs(reason);
}

bool ServedList::cancel(const RunId& run) {
  if (poller_ && poller_->cancel(run)) return true;
  return std::any_of(retired_.begin(), retired_.end(),
                     [&](const auto& poller) { return poller->cancel(run); });
}

void ServedList::run_item(const Item& item, const Poller::RunItemDone& then) {
  RunItemResult reply;
  switch (state_) {
    case ServingState::serving:
      return poller_->run_item(item, then);
    case ServingState::probing:
      reply.why = "the probe of the list has not finished yet";
      break;
    case ServingState::ineligible:
      reply.why = "host is ineligible for the list: " + refusal_;
      break;
    case ServingState::closing:
    case ServingState::closed:
      reply.why = "the list is no longer in the config of this host, or the host is draining";
      break;
  }
  then(reply);
}

std::size_t ServedList::running() const {
  std::size_t runs = poller_ ? poller_->runs().size() : 0;
  for (const auto& poller : retired_) runs += poller->runs().size();
  return runs;
}

RunCounters ServedList::counters() const {
  RunCounters sum = totals_ ? totals_->counters : RunCounters{};
  if (poller_) sum += poller_->counters();
  for (const auto& poller : retired_) sum += poller->counters();
  return sum;
}

std::size_t ServedList::unsettled() const {
  std::size_t runs = poller_ ? poller_->unsettled() : 0;
  for (const auto& poller : retired_) runs += poller->unsettled();
  return runs;
}

bool ServedList::has_run() const {
  return totals_ || (poller_ && poller_->has_past()) ||
         std::any_of(retired_.begin(), retired_.end(),
                     [](const auto& poller) { return poller->has_past(); });
}

std::optional<RunStats> ServedList::run_stats() const {
  std::optional<RunStats> sum;
  if (totals_) sum = totals_->run_stats;
  const auto add = [&sum](const Poller& poller) {
    if (!poller.has_past()) return;
    if (!sum) sum.emplace();
    *sum += poller.measures();
  };
  if (poller_) add(*poller_);
  for (const auto& poller : retired_) add(*poller);
  return sum;
}

void ServedList::update_reserved() {
  if (poller_ == nullptr) return;
  std::size_t runs = 0;
  for (const auto& poller : retired_) runs += poller->runs().size();
  poller_->set_reserved(runs);
}

/// Called outside the callbacks of pollers, so that they can be deleted.
void ServedList::sweep() {
  std::erase_if(retired_, [this](const auto& poller) {
    if (!poller->drained()) return false;
    if (!poller->has_past()) return true;
    if (!totals_) totals_ = std::make_unique<Totals>();
    totals_->counters += poller->counters();
    totals_->run_stats += poller->measures();
    return true;
  });
  update_reserved();
  if (state_ == ServingState::closing && retired_.empty()) state_ = ServingState::closed;
}

void ServedList::host_lacks(const Poller& poller, const std::string& reason) {
  if (&poller == poller_.get()) host_.lacking(config_, reason);
}

void ServedList::poller_changed(const Poller& poller) {
  if (poller.drained() || &poller != poller_.get())
    sweep_.set(host_.clock.now(), [this] { sweep(); });
}

}  // namespace w8y
