#include "source/gearman/source.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "source/gearman/result.hpp"

namespace w8y::source {

GearmanSource::GearmanSource(const GearmanHost& host, SourceHandler& handler,
                             const MakeRecords& make)
    : host_(host),
      told_(handler),
      records_(make(*this)),
      answer_(host.timers),
      slow_timer_(host.timers),
      sweep_(host.timers) {
  host_.servers.add(*this);
}

GearmanSource::~GearmanSource() {
  host_.servers.remove(*this);
  for (const auto& line : lines_) host_.servers.forget(*line->worker);
}

void GearmanSource::use(RulePtr rule) {
  const bool other = rule_ && rule_->gearman().function != rule->gearman().function;
  rule_ = std::move(rule);
  if (records_) records_->use(rule_);
  if (other) renew_busy();
  if (lines_.empty()) on_servers();
  resting_ = false;
}

// ---- lines

/// Of an earlier function.
void GearmanSource::renew_busy() {
  std::vector<Line*> busy;
  for (const auto& line : lines_)
    if (!line->leaving && is_busy(*line)) busy.push_back(line.get());
  for (Line* line : busy) leave(*line);
}

GearmanSource::Line& GearmanSource::line_of(const gearman::Worker& worker) {
  return **std::ranges::find_if(lines_,
                                [&](const auto& line) { return line->worker.get() == &worker; });
}

void GearmanSource::open(const GearmanServer& server) {
  auto line = std::make_unique<Line>();
  line->worker = host_.servers.connect(server, *this);
  lines_.push_back(std::move(line));
}

/// Others are to have what it gave and what is not begun.
void GearmanSource::leave(Line& line) {
  if (std::exchange(line.leaving, true)) return;
  host_.servers.forget(*line.worker);
  const GearmanServer server = line.worker->server();
  const auto& servers = host_.servers.servers();
  if (!retired_ && std::ranges::find(servers, server) != servers.end()) open(server);
  if (line.jobs == 0) let_go(line);
  // The claim that is out does not wait for it.
  if (out_) answer_.set(host_.clock.now(), [this] { go_on(); });
}

/// It may be in a callback of its own.
void GearmanSource::let_go(Line& line) {
  const auto found =
      std::ranges::find_if(lines_, [&](const auto& each) { return each.get() == &line; });
  gone_.push_back(std::move(*found));
  lines_.erase(found);
  sweep_.set(host_.clock.now(), [this] { gone_.clear(); });
}

/// One of its jobs is over.
void GearmanSource::release(Line* line) {
  if (line == nullptr || --line->jobs > 0) return;
  if (line->leaving) {
    let_go(*line);
  } else {
    show(*line);
  }
}

void GearmanSource::on_servers() {
  if (retired_) return;
  const auto& wanted = host_.servers.servers();
  std::vector<Line*> old;
  // One that is not up is made anew as well: it may be reached otherwise now.
  for (const auto& line : lines_)
    if (!line->leaving && (line->worker->state() != gearman::Worker::State::up ||
                           std::ranges::find(wanted, line->worker->server()) == wanted.end()))
      old.push_back(line.get());
  for (Line* line : old) leave(*line);
  for (const GearmanServer& server : wanted)
    if (std::ranges::none_of(lines_, [&](const auto& line) {
          return !line->leaving && line->worker->server() == server;
        }))
      open(server);
}

void GearmanSource::add_to(std::vector<GearmanStatus>& servers) const {
  for (const auto& line : lines_) {
    const std::string name = line->worker->server().to_string();
    const auto status = std::ranges::find(servers, name, &GearmanStatus::server);
    if (status == servers.end()) continue;
    status->jobs += line->jobs;
    if (line->leaving) continue;
    ++status->lists;
    if (line->worker->state() == gearman::Worker::State::up) ++status->connected;
  }
}

void GearmanSource::on_up(gearman::Worker& worker) {
  Line& line = line_of(worker);
  line.allowance = 1;
  line.dry = line.slow = false;
  line.confirmed = 0;
  if (!line.leaving) host_.servers.told_up(worker);
  if (out_) return go_on();
  stir();
}

void GearmanSource::on_down(gearman::Worker& worker, const std::string& why) {
  Line& line = line_of(worker);
  line.dry = line.slow = false;
  line.answered = true;
  if (!line.leaving) host_.servers.told_down(worker, why);
  const bool leaving = line.leaving;
  lose(line);
  if (leaving) {
    let_go(line);
  } else {
    show(line);
  }
  if (out_) return go_on();
  // Who waits for work is told that none can come.
  if (std::ranges::none_of(lines_, [](const auto& each) {
        return each->worker->state() == gearman::Worker::State::up;
      }))
    stir();
}

/// What its server gives to others now.
void GearmanSource::lose(Line& line) {
  std::vector<RunId> lost;
  for (auto& [run, held] : held_) {
    if (held.line != &line) continue;
    held.line = nullptr;
    held.server = line.worker->server();
    held.lost = held.mark == 0 || held.mark > line.confirmed;
    if (held.lost) lost.push_back(run);
  }
  std::vector<EndedRun> ended;
  for (auto end = ends_.begin(); end != ends_.end();) {
    if (end->second.line != &line) {
      ++end;
      continue;
    }
    ended.push_back(std::move(end->second.run));
    end = ends_.erase(end);
  }
  line.jobs = 0;
  drop_lost(claims_);
  drop_lost(late_);
  for (EndedRun& run : ended) {
    host_.servers.note(line.worker->server(), rule_->prefix,
                       "the connection broke before it had confirmed the end of run " +
                           run.claim.run + ", whose job may be given to another");
    record(std::move(run), true);
  }
  for (const RunId& run : lost)
    if (held_.contains(run)) told_.on_lease_lost(run);
  if (!ended.empty()) tell_if_settled();
}

void GearmanSource::drop_lost(std::vector<Claim>& claims) {
  std::erase_if(claims, [this](const Claim& claim) {
    const auto held = held_.find(claim.run);
    if (held->second.line != nullptr) return false;
    held_.erase(held);
    return true;
  });
}

void GearmanSource::on_error(gearman::Worker& worker, const std::string& why) {
  // A gearmand for which a WORK_EXCEPTION is the end of a job says so of the WORK_FAIL behind it.
  if (why.starts_with("JOB_NOT_FOUND")) return;
  host_.servers.note(worker.server(), rule_->prefix, why);
}

void GearmanSource::offer(bool able) {
  able_ = able;
  for (const auto& line : lines_) show(*line);
}

/// gearmand takes a CANT_DO for giving back all jobs of the function that the connection has: so it
/// waits until there are none. Until then nothing is grabbed.
void GearmanSource::show(Line& line) {
  if (!line.leaving && (able_ || !is_busy(line)))
    line.worker->offer(rule_->gearman().function, able_);
}

// ---- claims

void GearmanSource::claim(std::size_t wanted) {
  out_ = true;
  still_wanted_ = true;
  resting_ = false;
  wanted_ = wanted;
  const std::size_t there = std::min(late_.size(), wanted);
  for (std::size_t i = 0; i < there; ++i) claims_.push_back(std::move(late_[i]));
  late_.erase(late_.begin(), late_.begin() + static_cast<std::ptrdiff_t>(there));
  if (records_ && !records_->ready()) return;
  begin_claim();
}

void GearmanSource::begin_claim() {
  offer(!paused());
  if (!paused()) ask();
  if (asked() > 0) return watch_slow();
  answer_.set(host_.clock.now(), [this] { go_on(); });
}

/// Grabs that are waited for.
std::size_t GearmanSource::asked() const {
  std::size_t count = 0;
  for (const auto& line : lines_)
    if (!line->slow && !line->leaving) count += line->worker->asked();
  return count;
}

/// In turn. No more are out than could be run at once.
void GearmanSource::ask() {
  for (std::size_t open = claims_.size() + asked(); open < wanted_; ++open) {
    Line* line = next_line();
    if (line == nullptr) return;
    line->worker->grab();
  }
}

GearmanSource::Line* GearmanSource::next_line() {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    turn_ = turn_ + 1 < lines_.size() ? turn_ + 1 : 0;
    Line& line = *lines_[turn_];
    const gearman::Worker& worker = *line.worker;
    if (worker.state() == gearman::Worker::State::up && !worker.asleep() && !line.leaving &&
        !line.dry && !line.slow && worker.asked() < std::min(line.allowance, most_asked))
      return &line;
  }
  return nullptr;
}

void GearmanSource::on_job(gearman::Worker& worker, gearman::Job&& job) {
  Line& line = line_of(worker);
  line.answered = true;
  line.slow = false;
  line.dry = false;  // what had none left has some again; nobody would be woken for those
  line.allowance = std::min(line.allowance * 2, most_asked);
  if (job.cut) {
    worker.send(packets::failure_packets(job.handle, "the workload is " + too_long_text()));
    host_.servers.note(worker.server(), rule_->prefix,
                       "the workload of " + job.handle + " is " + too_long_text());
    return go_on();
  }
  const bool fits = out_ && claims_.size() < wanted_;
  // It goes back with the connection.
  if (!fits && line.leaving) return;
  auto& where = fits ? claims_ : late_;
  where.push_back(hold(line, std::move(job)));
  if (out_) return go_on();
  if (still_wanted_) {
    told_.on_may_claim();
  } else {
    const Claim claim = std::move(late_.back());
    late_.pop_back();
    hand_back(claim);
  }
}

Claim GearmanSource::hold(Line& line, gearman::Job&& job) {
  const RunId run = host_.run_ids.next(host_.clock.wall());
  ++line.jobs;
  Call call;
  call.name = std::move(job.function);
  call.id = job.unique.empty() ? job.handle : std::move(job.unique);
  call.input = std::move(job.workload);
  held_.emplace(run, Held{&line, std::move(job.handle), 0, false, {}});
  Item item = *call.id;
  return Claim{run, std::move(item), std::move(call), std::nullopt, 1};
}

void GearmanSource::on_no_job(gearman::Worker& worker) {
  Line& line = line_of(worker);
  line.answered = true;
  const bool was_slow = std::exchange(line.slow, false);
  line.allowance = 1;
  line.dry = worker.asked() > 0;
  if (!line.dry && !line.leaving) {
    if (able_) worker.sleep();
    show(line);
  }
  if (out_) return go_on();
  // Whoever was told that it does not answer is told what holds now.
  if (was_slow) stir();
}

void GearmanSource::on_woken(gearman::Worker& worker) {
  line_of(worker).dry = false;
  if (out_) return go_on();
  stir();
}

/// The claim that is out is answered when it has all, or nothing more is waited for.
void GearmanSource::go_on() {
  if (!out_ || (records_ && !records_->ready())) return;
  if (!paused()) ask();
  if (claims_.size() >= wanted_ || asked() == 0) return answer();
  // One that came up meanwhile may be the first that was asked.
  if (!slow_timer_.pending()) watch_slow();
}

void GearmanSource::answer() {
  out_ = false;
  answer_.cancel();
  slow_timer_.cancel();
  ClaimReply told = reply();
  resting_ = still_wanted_ && told.end != ClaimEnd::more;
  told_.on_claimed(std::move(told));
}

ClaimReply GearmanSource::reply() {
  ClaimReply reply;
  reply.claims = std::exchange(claims_, {});
  if (reply.claims.size() >= wanted_) return reply;
  if (paused()) {
    reply.end = ClaimEnd::paused;
    reply.detail = *records_->pause();
    return reply;
  }
  reply.end = ClaimEnd::unavailable;
  for (const auto& line : lines_) {
    if (line->leaving) continue;
    const std::string name = line->worker->server().to_string();
    if (line->worker->state() == gearman::Worker::State::up && !line->slow) {
      reply.end = ClaimEnd::empty;
      reply.detail.clear();
      break;
    }
    const std::string& trouble = line->worker->trouble();
    reply.detail += (reply.detail.empty() ? "" : "; ") + name + ": " +
                    (line->slow        ? "it does not answer"
                     : trouble.empty() ? "not connected yet"
                                       : trouble);
  }
  return reply;
}

/// Those that have not answered by then are not waited for.
void GearmanSource::watch_slow() {
  for (const auto& line : lines_) line->answered = line->worker->asked() == 0;
  slow_timer_.set(host_.clock.now() + patience, [this] {
    for (const auto& line : lines_)
      if (!line->answered) line->slow = true;
    go_on();
    if (out_) watch_slow();
  });
}

void GearmanSource::stir() {
  if (!resting_ || out_) return;
  resting_ = false;
  told_.on_may_claim();
}

void GearmanSource::on_pause() {
  if (paused()) offer(false);
  if (out_) return begin_claim();
  stir();
}

void GearmanSource::stop_waiting() {
  still_wanted_ = false;
  resting_ = false;
  offer(false);
  for (const Claim& claim : std::exchange(late_, {})) hand_back(claim);
}

void GearmanSource::retire() {
  if (std::exchange(retired_, true)) return;
  stop_waiting();
  std::vector<Line*> lines;
  for (const auto& line : lines_) lines.push_back(line.get());
  for (Line* line : lines) leave(*line);
}

// ---- what becomes of jobs

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
    // Nobody else will ever see it.
    if (held.lost && run.end.complete)
      host_.servers.note(
          held.server, rule_->prefix,
          "the connection broke, and so the result of run " + run.claim.run +
              " can't be told: " + std::string(shown_part(run.end.complete->result)));
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
  Line& line = line_of(worker);
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
