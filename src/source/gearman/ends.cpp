// GearmanSource: progress and end of a run, sent to the server, confirmed by it, and recorded.
#include <utility>

#include "source/gearman/result.hpp"
#include "source/gearman/source.hpp"

namespace w8y::source {

bool GearmanSource::may_start(const Claim& claim) const {
  const auto held = held_.find(claim.run);
  return held != held_.end() && held->second.line != nullptr;
}

void GearmanSource::announce(const RunEvent& event) {
  if (records_) records_->announce(event);
  const auto held = held_.find(event.run);
  if (held == held_.end() || held->second.line == nullptr || held->second.mark > 0) return;
  std::string packet = packets::news_packet(held->second.handle, event);
  if (!packet.empty()) held->second.line->worker->send(std::move(packet));
}

void GearmanSource::completed(const Claim& claim, const std::string& result) {
  const auto found = held_.find(claim.run);
  if (found == held_.end()) return;
  Held& held = found->second;
  if (held.line == nullptr || held.mark > 0) return;
  held.line->worker->send(packets::complete_packet(held.handle, result));
  held.mark = held.line->worker->mark();
}

void GearmanSource::hand_back(const Claim& claim) {
  const auto held = held_.extract(claim.run);
  if (held.empty() || held.mapped().line == nullptr) return;
  Line* line = held.mapped().line;
  leave(*line);
  release(line);
}

void GearmanSource::settle(EndedRun&& run) {
  const auto found = held_.extract(run.claim.run);
  if (found.empty()) return;
  Held& held = found.mapped();
  const bool told = held.mark > 0;
  if (held.line == nullptr) {
    // This log entry is the only copy of the result.
    if (held.lost && run.end.complete)
      host_.servers.on_problem(
          held.server, rule_->prefix,
          "the connection broke; the result of run " + run.claim.run +
              " was not sent: " + std::string(shown_part(run.end.complete->result)));
    return record(std::move(run), held.lost);
  }
  if (!told && packets::gives_back(run.outcome)) {
    leave(*held.line);
    release(held.line);
    return record(std::move(run), false);
  }
  gearman::Worker& worker = *held.line->worker;
  if (!told) {
    worker.send(packets::end_packets(held.handle, run));
    held.mark = worker.mark();
  }
  if (held.mark <= held.line->confirmed) {
    release(held.line);
    return record(std::move(run), false);
  }
  const RunId id = run.claim.run;
  ends_.emplace(id, End{std::move(run), held.line, held.mark});
}

void GearmanSource::on_confirmed(gearman::Worker& worker, std::uint64_t mark) {
  Line* const known = line_of(worker);
  if (known == nullptr) return;
  Line& line = *known;
  line.confirmed = mark;
  std::size_t over = 0;
  for (auto end = ends_.begin(); end != ends_.end();) {
    if (end->second.line != &line || end->second.mark > mark) {
      ++end;
      continue;
    }
    record(std::move(end->second.run), false);
    end = ends_.erase(end);
    ++over;
  }
  for (; over > 1; --over) --line.jobs;
  if (over > 0) {
    release(&line);
    tell_if_settled();
  }
}

void GearmanSource::record(EndedRun&& run, bool lost) {
  if (!records_ || !run.rule->keeps_records) return;
  if (lost) run.outcome = Lost{};
  records_->enter(std::move(run));
}

std::size_t GearmanSource::unsettled() const {
  return ends_.size() + (records_ ? records_->pending() : 0);
}

void GearmanSource::tell_if_settled() {
  if (unsettled() == 0) told_.on_all_settled();
}

}  // namespace w8y::source
