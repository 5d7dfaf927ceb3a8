#include "source/job/upkeep.hpp"

#include <algorithm>
#include <utility>

#include "core/job_settings.hpp"

namespace w8y::source {

JobUpkeep::JobUpkeep(const Clock& clock, IdlePolls& idle, ListMaintenanceHandler& handler,
                     const MakeCare& make, ListConfigPtr rule)
    : IdlePolls::Sleeper(idle),
      clock_(clock),
      handler_(handler),
      rule_(std::move(rule)),
      care_(make(*this)) {
  care_->use(rule_);
  // Hosts and lists start at the same time.
  maintain_at_ = clock_.now() + spread(rule_->job().maintenance_interval);
  enter();
}

JobUpkeep::~JobUpkeep() = default;

void JobUpkeep::use(ListConfigPtr rule) {
  rule_ = std::move(rule);
  care_->use(rule_);
  maintain_at_ = std::min(maintain_at_, clock_.now() + rule_->job().maintenance_interval);
  if (state_ == State::waiting) wait();
}

void JobUpkeep::enter() {
  IdlePolls::Sleeper::wake();
  state_ = State::entering;
  if (come_in()) back_due();
}

void JobUpkeep::back_due() {
  recover();
  been_back();
}

void JobUpkeep::recover() {
  state_ = State::asking;
  care_->recover();
}

void JobUpkeep::on_recovered(std::optional<Duration> next) {
  const Duration pause = std::min(next.value_or(recover_pause), recover_pause);
  recover_at_ = clock_.now() + std::max(pause, least_recover_pause);
  wait();
}

void JobUpkeep::on_maintained(const store::thoonk::MaintenanceResult& result,
                              const std::string& trouble) {
  const Duration interval = rule_->job().maintenance_interval;
  maintain_at_ = clock_.now() + std::min(result.next.value_or(interval), interval);
  if (trouble != std::exchange(trouble_, trouble)) handler_.on_maintenance_error(trouble);
  wait();
}

void JobUpkeep::wait() {
  if (std::exchange(again_, false)) return enter();
  state_ = State::waiting;
  const Instant at = std::min(recover_at_, maintain_at_);
  sleep({std::max(at - clock_.now(), Duration{0}), patience, 1});
}

void JobUpkeep::poll_due(bool, double paid) {
  const Instant now = clock_.now();
  if (now >= recover_at_) return recover();
  if (now >= maintain_at_) {
    state_ = State::asking;
    return care_->maintain();
  }
  charge(-paid);
  wait();
}

void JobUpkeep::on_back() {
  if (state_ == State::asking) {
    again_ = true;
  } else if (state_ == State::waiting) {
    enter();
  }
}

}  // namespace w8y::source
