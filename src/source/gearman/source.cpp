#include "source/gearman/source.hpp"

#include <algorithm>
#include <utility>

#include "core/gearman_settings.hpp"
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

void GearmanSource::use(ListConfigPtr rule) {
  const bool other = rule_ && rule_->gearman().function != rule->gearman().function;
  rule_ = std::move(rule);
  if (records_) records_->use(rule_);
  if (other) offer_again();
  if (lines_.empty()) on_servers();
  resting_ = false;
}

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
  offer(still_wanted_ && !paused());
  if (able_) ask();
  if (asked() > 0) return watch_slow();
  answer_.set(host_.clock.now(), [this] { go_on(); });
}

/// Returns the number of requests in flight that the claim waits for.
std::size_t GearmanSource::asked() const {
  std::size_t count = 0;
  for (const auto& line : lines_)
    if (!line->slow && !line->leaving) count += line->worker->requested();
  return count;
}

/// Requests jobs from the servers in turn, at most as many as can run at once.
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
        !line.dry && !line.slow && worker.requested() < std::min(line.allowance, most_asked))
      return &line;
  }
  return nullptr;
}

void GearmanSource::on_job(gearman::Worker& worker, gearman::Job&& job) {
  Line* const known = line_of(worker);
  if (known == nullptr) return;
  Line& line = *known;
  line.answered = true;
  line.slow = false;
  line.dry = false;  // jobs were available again, and no wake-up will follow for them
  line.allowance = std::min(line.allowance * 2, most_asked);
  if (job.cut) {
    worker.send(packets::failure_packets(job.handle, "the workload is " + too_long_text()));
    host_.servers.on_problem(worker.server(), rule_->prefix,
                             "the workload of " + job.handle + " is " + too_long_text());
    if (out_) return go_on();
    return stir();
  }
  const bool fits = out_ && claims_.size() < wanted_;
  // The job returns to the server with the end of the connection.
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
  Line* const known = line_of(worker);
  if (known == nullptr) return;
  Line& line = *known;
  line.answered = true;
  const bool was_slow = std::exchange(line.slow, false);
  line.allowance = 1;
  line.dry = worker.requested() > 0;
  if (!line.dry && !line.leaving) {
    if (able_) worker.sleep();
    show(line);
  }
  if (out_) return go_on();
  // The next claim no longer reports that the server does not reply.
  if (was_slow) stir();
}

void GearmanSource::on_woken(gearman::Worker& worker) {
  Line* const line = line_of(worker);
  if (line == nullptr) return;
  line->dry = false;
  if (out_) return go_on();
  stir();
}

/// Continues the claim in flight. It ends when it has all jobs, or when no request is in flight.
void GearmanSource::go_on() {
  if (!out_ || (records_ && !records_->ready())) return;
  // Without an offered function, the connection never sleeps, so requests would repeat without end.
  if (able_) ask();
  if (claims_.size() >= wanted_ || asked() == 0) return answer();
  // A first server may have become available during the claim: sets the timer for it.
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
    const std::string& trouble = line->worker->error();
    reply.detail += (reply.detail.empty() ? "" : "; ") + name + ": " +
                    (line->slow        ? "it does not reply"
                     : trouble.empty() ? "not connected yet"
                                       : trouble);
  }
  return reply;
}

/// Stops waiting for servers that do not reply in time.
void GearmanSource::watch_slow() {
  for (const auto& line : lines_) line->answered = line->worker->requested() == 0;
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

}  // namespace w8y::source
