#include <algorithm>
#include <utility>

#include <w8y/served_list.hpp>

namespace w8y {

ServedList::ServedList(const ListHost& host, RulePtr rule)
    : host_(host), rule_(std::move(rule)), sweep_(host.timers) {}

ServedList::~ServedList() = default;

void ServedList::decide(RulePtr rule, const ProbeResult& answer) {
  if (state_ == ServingState::closing || state_ == ServingState::closed) return;
  std::string reason;
  if (const auto* refusal = std::get_if<Refusal>(&answer)) {
    reason = refusal->reason;
  } else {
    const Caps& caps = std::get<Caps>(answer);
    if (caps != *caps_) caps_.edit() = caps;
    reason = host_.workshop.why_not(*rule, *caps_);
  }

  if (reason.empty()) {
    refusal_.clear();
    if (state_ != ServingState::serving) {
      rule_ = std::move(rule);
      serve();
      host_.events.list_served(*rule_, *caps_);
    } else {
      use(std::move(rule));
    }
    return;
  }
  rule_ = std::move(rule);
  retire();
  const bool news = state_ != ServingState::refused || refusal_ != reason;
  state_ = ServingState::refused;
  refusal_ = reason;
  if (news) host_.events.list_refused(*rule_, refusal_);
}

void ServedList::use(RulePtr rule) {
  const bool other_source = rule->source != rule_->source || rule->lock_key != rule_->lock_key;
  rule_ = std::move(rule);
  if (poller_ == nullptr) return;
  if (other_source) return renew();
  poller_->use(rule_, host_.workshop.make_executor(rule_, *caps_, poller_->run_handler()));
}

void ServedList::serve() {
  state_ = ServingState::serving;
  // Under another name, a lock doesn't keep an item that still runs from being claimed again.
  waits_for_retired_ = std::any_of(retired_.begin(), retired_.end(), [this](const auto& poller) {
    return poller->rule().lock_key != rule_->lock_key;
  });
  if (waits_for_retired_) return;  // each that drains is swept, and then this is tried again
  poller_ = std::make_unique<Poller>(
      PollerHost{host_.clock, host_.timers, host_.slots, host_.idle, *this}, rule_);
  poller_->set_quiet(quiet_);
  update_reserved();
  poller_->begin(host_.workshop.make_source(rule_, poller_->source_handler()),
                 host_.workshop.make_executor(rule_, *caps_, poller_->run_handler()));
}

void ServedList::reopen(bool quiet) {
  state_ = ServingState::probing;
  quiet_ = quiet;
}

void ServedList::renew() {
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
  state_ = ServingState::closing;
  sweep_.set(host_.clock.now(), [this] { sweep(); });
}

void ServedList::set_quiet(bool quiet) {
  quiet_ = quiet;
  if (poller_) poller_->set_quiet(quiet);
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

std::size_t ServedList::running() const {
  std::size_t runs = poller_ ? poller_->runs().size() : 0;
  for (const auto& poller : retired_) runs += poller->runs().size();
  return runs;
}

RunCounters ServedList::counters() const {
  RunCounters sum = past_ ? *past_ : RunCounters{};
  if (poller_) sum += poller_->counters();
  for (const auto& poller : retired_) sum += poller->counters();
  return sum;
}

void ServedList::update_reserved() {
  if (poller_ == nullptr) return;
  std::size_t runs = 0;
  for (const auto& poller : retired_) runs += poller->runs().size();
  poller_->set_reserved(runs);
}

/// Out of the pollers' own callbacks: here they may be destroyed.
void ServedList::sweep() {
  std::erase_if(retired_, [this](const auto& poller) {
    if (!poller->drained()) return false;
    if (!past_) past_ = std::make_unique<RunCounters>();
    *past_ += poller->counters();
    return true;
  });
  update_reserved();
  if (waits_for_retired_ && state_ == ServingState::serving) serve();
  if (state_ == ServingState::closing && retired_.empty()) state_ = ServingState::closed;
}

void ServedList::run_started(const Poller& poller, const ActiveRun& run) {
  host_.events.run_started(poller, run);
}

void ServedList::run_message(const Poller& poller, const ActiveRun& run, const Message& message) {
  host_.events.run_message(poller, run, message);
}

void ServedList::run_logged(const Poller& poller, const ActiveRun& run, std::string_view line,
                            bool cut) {
  host_.events.run_logged(poller, run, line, cut);
}

void ServedList::run_ended(const Poller& poller, const Settlement& settlement) {
  const auto* unstarted = std::get_if<NotStarted>(&settlement.end.process);
  host_.events.run_ended(poller, settlement);
  if (unstarted != nullptr && !unstarted->item_at_fault && !unstarted->host_is_short)
    host_.doubted(rule_->prefix);
  if (&poller != poller_.get()) sweep_.set(host_.clock.now(), [this] { sweep(); });
}

void ServedList::process_news(const Poller& poller, int pid, const ProcessNews& news) {
  host_.events.process_news(poller, pid, news);
}

void ServedList::lease_changed(const Poller& poller, const ActiveRun& run, bool lost) {
  host_.events.lease_changed(poller, run, lost);
}

void ServedList::shortage_changed(const Poller& poller) {
  host_.events.shortage_changed(poller);
}

void ServedList::state_changed(Poller& poller) {
  if (poller.drained()) sweep_.set(host_.clock.now(), [this] { sweep(); });
  host_.events.state_changed(poller);
}

}  // namespace w8y
