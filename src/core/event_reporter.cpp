#include "core/event_reporter.hpp"

#include <chrono>
#include <variant>

namespace w8y {

namespace {

RunRef ref(const ActiveRun& run) {
  return {run.rule->prefix, run.claim.run, run.claim.item};
}

PollerRef ref(const Poller& poller) {
  return {poller.rule().prefix, &poller};
}

const std::string& program_of(const ListConfig& rule) {
  return rule.is_command() ? rule.command->front() : *rule.executor;
}

}  // namespace

void EventReporter::run_started(const Poller&, const ActiveRun& run) {
  if (events_.listens())
    events_.on_event(RunStarted{ref(run), run.pid, run.claim.attempt, run.claim.fence});
}

void EventReporter::run_message(const Poller& poller, const ActiveRun& run,
                                const Message& message) {
  if (const auto* progress = std::get_if<Progress>(&message)) {
    if (events_.listens()) events_.on_event(RunProgressed{ref(run), *progress});
  } else if (const auto* update = std::get_if<Update>(&message)) {
    if (events_.listens()) events_.on_event(RunUpdated{ref(run), update->data});
  } else if (const auto* print = std::get_if<Print>(&message)) {
    run_logged(poller, run, print->content, false);
  } else if (const auto* complete = std::get_if<Complete>(&message)) {
    if (!complete->mistake.empty()) events_.on_event(RunPartIgnored{ref(run), complete->mistake});
  } else if (const auto* bad = std::get_if<BadLine>(&message)) {
    events_.on_event(RunLineIgnored{ref(run), bad->reason, run.bad_lines});
  }
}

void EventReporter::run_logged(const Poller&, const ActiveRun& run, std::string_view line,
                               bool cut) {
  events_.on_event(RunLogged{ref(run), line, cut});
}

void EventReporter::run_ended(const Poller&, const EndedRun& run) {
  events_.on_event(RunEnded{{run.rule->prefix, run.claim.run, run.claim.item},
                            run.outcome,
                            std::chrono::duration_cast<Duration>(run.ended - run.started),
                            run.claim.attempt,
                            run.end.bad_lines});
}

void EventReporter::process_changed(const Poller& poller, int pid, const ProcessEvent& news) {
  events_.on_event(StreamProcessEvent{poller.rule().prefix, pid, news});
}

void EventReporter::lease_changed(const Poller&, const ActiveRun& run, bool lost) {
  const bool killed = lost && run.rule->on_lease_loss == OnLeaseLoss::terminate;
  events_.on_event(LeaseChanged{ref(run), !lost, killed});
}

void EventReporter::item_quarantined(const Poller& poller, const DisplayItem& item,
                                     const std::string& why) {
  events_.on_event(ItemQuarantined{poller.rule().prefix, item, why});
}

void EventReporter::settlement_abandoned(const Poller& poller, const RunId& run,
                                         const std::string& why) {
  events_.on_event(SettlementAbandoned{poller.rule().prefix, run, why});
}

void EventReporter::write_error_changed(const Poller& poller) {
  events_.on_event(WritesRefused{ref(poller), poller.unwritten().empty(), poller.unwritten()});
}

void EventReporter::state_changed(Poller& poller) {
  if (poller.state() == PollerState::drained) {
    refused_.erase(&poller);
    paused_.erase(&poller);
    open_.erase(&poller);
    return events_.on_event(PollerGone{ref(poller)});
  }
  // Reported at the end of each claim. The connection reports an outage, which all lists share.
  const ClaimEnd end = poller.last_claim();
  if (poller.state() == PollerState::claiming || end == ClaimEnd::unavailable) return;
  const bool paused = end == ClaimEnd::paused || end == ClaimEnd::halted;
  if (paused ? paused_.insert(&poller).second : paused_.erase(&poller) > 0)
    events_.on_event(ListPaused{ref(poller), !paused});
  const bool open = end == ClaimEnd::breaker;
  const bool known = open || (!paused && end != ClaimEnd::refused);
  if (open ? open_.insert(&poller).second : known && !open_.empty() && open_.erase(&poller) > 0)
    events_.on_event(BreakerChanged{ref(poller), !open, open ? poller.detail() : std::string()});
  if (end == ClaimEnd::refused) {
    if (refused_.insert(&poller).second)
      events_.on_event(ClaimsRefused{ref(poller), false, poller.detail()});
  } else if (!refused_.empty() && refused_.erase(&poller) > 0) {
    events_.on_event(ClaimsRefused{ref(poller), true, {}});
  }
}

void EventReporter::shortage_changed(const Poller& poller) {
  const ShortageBreaker& shortage = poller.shortage();
  if (shortage.any())
    return events_.on_event(ShortageChanged{ref(poller), false, shortage.reason(), 0, {}});
  events_.on_event(ShortageChanged{ref(poller), true, {}, shortage.attempts(), shortage.lasted()});
}

void EventReporter::list_refused(const ListConfig& rule, const Ineligibility& refusal) {
  events_.on_event(ListChanged{rule.prefix, ListState::ineligible, refusal.reason, program_of(rule),
                               refusal.of_host});
}

void EventReporter::list_served(const ListConfig& rule, const Caps&) {
  events_.on_event(ListChanged{rule.prefix, ListState::idle, {}, program_of(rule), false});
}

void EventReporter::maintenance_changed(const ListConfig& rule, const std::string& why) {
  events_.on_event(MaintenanceChanged{rule.prefix, why.empty(), why});
}

}  // namespace w8y
