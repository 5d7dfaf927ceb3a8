#include "source/circular.hpp"

#include <algorithm>
#include <utility>

#include "source/quarantine_note.hpp"
#include "source/run_record.hpp"

namespace w8y::source {

namespace {

/// While Redis has left so many bytes unread, events of runs are not published: a child that floods
/// its output must not grow our memory or delay others.
constexpr std::size_t most_unsent = std::size_t{1} << 20;

/// Other hosts' claims turn the list, which is a change too: looked at no more often than this.
constexpr Duration change_pause = std::chrono::milliseconds(50);

/// A claim's call costs Redis about as much as looking at so many bytes of items.
constexpr std::size_t bytes_per_call = std::size_t{256} << 10;

/// Items that a list may hold, by the life of its locks: each lock is renewed with its item in its
/// name, and that is to leave Redis, and our memory, to others too. One item is always held.
constexpr std::size_t most_held_per_second = std::size_t{8} << 20;
constexpr std::size_t most_held = std::size_t{256} << 20;

/// A look at the ends of a list sees as many at the right one (claim.lua).
constexpr std::int64_t seen_at_right = LockStore::most_looked_at / 4;

ClaimEnd end_of(ClaimStatus status) {
  switch (status) {
    case ClaimStatus::empty:
      return ClaimEnd::empty;
    case ClaimStatus::paused:
      return ClaimEnd::paused;
    case ClaimStatus::full:
      return ClaimEnd::fleet_full;
    case ClaimStatus::none:
      return ClaimEnd::nothing_free;
    case ClaimStatus::ok:
    case ClaimStatus::more:
      break;
  }
  return ClaimEnd::more;
}

const char* failures_text(FailureCount count) {
  switch (count) {
    case FailureCount::keep:
      return "keep";
    case FailureCount::reset:
      return "reset";
    case FailureCount::increment:
      return "increment";
  }
  return "keep";
}

/// What the lock becomes.
struct NewLock {
  SettleCall& call;
  const Settlement& settlement;
  const std::string& host;
  void operator()(const SetFree&) const {}
  void operator()(const RestFor& rest) const {
    call.new_value = rest.after_failure ? rest_backoff : rest_cooldown;
    call.new_life = rest.time;
  }
  void operator()(const Quarantine&) const {
    call.new_value = quarantine_prefix + call.run;
    const std::string reason = outcome_reason(settlement.outcome);
    const std::string outcome = outcome_name(settlement.outcome);
    QuarantineNote note{call.run, "w8yd on " + host, {}, settlement.ended};
    note.why = std::to_string(settlement.claim.attempt) +
               " failed in a row, the last: " + (reason.empty() ? outcome : reason);
    call.note = to_text(note);
  }
};

}  // namespace

CircularSource::CircularSource(std::shared_ptr<RedisLink> link, SourceHandler& handler)
    : LinkHolder{std::move(link)},
      Sweep::Member(link_->sweep),
      redis::Client::Listener(link_->client),
      handler_(handler),
      look_again_(link_->timers),
      tell_given_up_(link_->timers),
      scan_later_(link_->timers),
      room_(link_->timers),
      alive_(std::make_shared<bool>(true)) {}

CircularSource::~CircularSource() {
  *alive_ = false;
}

void CircularSource::use(RulePtr rule) {
  rule_ = std::move(rule);
  keys_.reset();
}

const std::shared_ptr<const CircularKeys>& CircularSource::keys() {
  if (!keys_) keys_ = std::make_shared<const CircularKeys>(*rule_);
  return keys_;
}

Settlements& CircularSource::settlements() {
  if (!settlements_)
    settlements_ = std::make_unique<Settlements>(
        *link_, Settlements::Handler{
                    [this] { look_all_settled(); },
                    [this](const RunId& run, const std::string& why) { give_up(run, why); }});
  return *settlements_;
}

/// What a list at rest does without.
void CircularSource::put_away() {
  if (!held_.empty() || unsettled() > 0) return;
  settlements_.reset();
  lost_claims_.reset();
  keys_.reset();
  pass_ = Pass{};
}

// ---- claim

void CircularSource::claim(std::size_t wanted, Scan scan, Manner manner) {
  const auto left = scan == Scan::ends ? ClaimCall::only_ends : ClaimCall::new_pass;
  pass_ = Pass{rule_, keys(), wanted, left, 0, std::nullopt, 0, manner == Manner::overdue, {}};
  this->scan();
}

void CircularSource::scan() {
  if (held_bytes_ >= may_hold()) return hold_back();
  if (longest_ && *longest_ >= RedisLink::large && !link_->may_call_large()) {
    scan_later_.set(link_->large_after(), [this] { scan(); });
    return;
  }
  // Both travel in one write, and the claim sees the items free that are.
  if (settlements_) settlements_->send();
  ClaimCall call{*pass_.keys,
                 lock_value({}),
                 {},
                 pass_.rule->key_expiry,
                 pass_.rule->fleet_concurrency,
                 pass_.left,
                 held_.size(),
                 hears_of_turn(),
                 pass_.overdue,
                 link_->parked_note,
                 longest_};
  // Ids that one call can't use would only be carried there.
  const std::size_t wanted = std::min(pass_.wanted, LockStore::most_looked_at);
  call.runs.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i)
    call.runs.push_back(link_->run_ids.next(link_->clock.wall()));
  ++pass_.calls;
  const RedisLink::LargeCall made = link_->large_call();
  // What the call is given is read before it returns: its ids may be kept elsewhere.
  const auto runs = std::make_shared<std::vector<RunId>>();
  link_->locks->claim(
      call, [this, alive = alive_, runs, made](const ClaimResult* result, const Trouble& trouble) {
        if (!*alive) return;
        if (result == nullptr) return unavailable(*runs, trouble);
        if (result->bytes >= RedisLink::large) link_->large_answered(made);
        scanned(*runs, made.sent, *result);
      });
  *runs = std::move(call.runs);  // it has been read, and is never answered from inside
}

std::size_t CircularSource::may_hold() const {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(pass_.rule->key_expiry).count();
  return std::min(most_held,
                  most_held_per_second * static_cast<std::size_t>(std::max(seconds, 1L)));
}

/// Answered from the loop, and woken when there is room.
void CircularSource::hold_back() {
  held_back_ = true;
  leave_line();
  scan_later_.set(link_->clock.now(), [this] {
    ClaimReply reply;
    reply.end = ClaimEnd::fleet_full;
    reply.detail =
        "the items that run here are long: more wait until their locks need less of Redis";
    reply.calls = pass_.calls;
    reply.parked = std::move(pass_.parked);
    handler_.on_claimed(std::move(reply));
  });
}

void CircularSource::scanned(const std::vector<RunId>& runs, Instant sent,
                             const ClaimResult& result) {
  const bool first = pass_.calls == 1;
  pass_.left = result.left;
  if (result.bytes > 0) longest_ = result.longest;
  // A call that looks at long items keeps Redis as busy as many others.
  pass_.calls += result.bytes / bytes_per_call;
  if (pass_.parked.empty()) {
    pass_.parked = result.parked;
  } else {
    pass_.parked.insert(pass_.parked.end(), result.parked.begin(), result.parked.end());
  }
  all_taken_ = result.status != ClaimStatus::ok;
  empty_ = result.status == ClaimStatus::empty;
  if (first) pass_.length = result.length;
  if (result.status == ClaimStatus::none) note_length(result);
  if (!result.maybe_locked.empty()) look_for(result.maybe_locked);
  if (result.next_free && (!pass_.next_free || *result.next_free < *pass_.next_free))
    pass_.next_free = result.next_free;
  if (result.status == ClaimStatus::more && result.taken.empty()) return scan();

  ClaimReply reply;
  in_line_ = result.others.has_value();
  line_ = Line::none;
  if (result.others.value_or(0) > 0) {
    const auto hosts = static_cast<std::int64_t>(*result.others) + 1;
    const auto limit = static_cast<std::int64_t>(pass_.rule->fleet_concurrency);
    line_ = (limit > 0 && limit < hosts) || (result.length > 0 && result.length < hosts)
                ? Line::crowded
                : Line::others;
  }
  reply.line = line_;
  reply.end = end_of(result.status);
  reply.next_free = pass_.next_free;
  reply.detail = result.detail;
  reply.calls = pass_.calls;
  reply.whole = result.left == 0;
  reply.parked = std::move(pass_.parked);
  reply.claims.reserve(result.taken.size());
  for (std::size_t i = 0; i < result.taken.size() && i < runs.size(); ++i)
    reply.claims.push_back(hold(runs[i], result.taken[i], sent));
  if (link_->clock.now() - sent > pass_.rule->key_expiry / 2) {
    // The answer took so long (a slow connect, a stopped process) that by our clock the leases are
    // half over or gone: nothing is begun under them.
    for (const Claim& claim : reply.claims) hand_back(claim);
    reply.claims.clear();
    reply.end = ClaimEnd::unavailable;
    reply.detail = "the answer to a claim came too late";
  }
  handler_.on_claimed(std::move(reply));
}

/// What was added while a pass went on, or behind what a look at the ends saw, is found by its
/// length.
void CircularSource::note_length(const ClaimResult& result) {
  const std::int64_t added = result.length - length_;
  if (result.left == 0) {
    length_ = pass_.length;
  } else if (added >= 0 && added <= seen_at_right) {
    length_ = result.length;
  }
}

void CircularSource::leave_line() {
  if (!std::exchange(in_line_, false) || !link_->client.connected()) return;
  const ClaimCall call{
      *keys(), lock_value({}), {}, rule_->key_expiry, 0, ClaimCall::new_pass, 0, true, false, {},
      {}};
  link_->locks->claim(call, [](const ClaimResult*, const Trouble&) {});
}

void CircularSource::look_for(const std::vector<RunId>& runs) {
  if (!lost_claims_)
    lost_claims_ = std::make_unique<LostClaims>(*link_, [this] { look_all_settled(); });
  lost_claims_->add(pass_.keys, lock_value({}), runs, pass_.rule->key_expiry);
  // The connection may be there (an error in the middle of a pass).
  lost_claims_->look();
}

void CircularSource::unavailable(const std::vector<RunId>& runs, const Trouble& trouble) {
  if (trouble.maybe_done) look_for(runs);
  ClaimReply reply;
  reply.end = trouble.about_keys() ? ClaimEnd::refused : ClaimEnd::unavailable;
  reply.detail = trouble.why;
  reply.calls = pass_.calls;
  reply.parked = std::move(pass_.parked);
  handler_.on_claimed(std::move(reply));
}

std::string CircularSource::lock_value(const RunId& run) const {
  const RedisLink::Identity& who = link_->identity;
  const std::string pid = std::to_string(who.pid);
  std::string value;
  value.reserve(std::string_view(run_prefix).size() + who.host.size() + pid.size() + run.size() +
                2);
  value.append(run_prefix).append(who.host).append(1, ':').append(pid).append(1, ':').append(run);
  return value;
}

Claim CircularSource::hold(const RunId& run, const Taken& taken, Instant sent) {
  Held held{pass_.keys, pass_.keys->lock(taken.item), lock_value(run), nullptr};
  LeaseTerms terms{run,
                   held.lock,
                   held.value,
                   pass_.keys,
                   pass_.rule->fleet_concurrency > 0,
                   pass_.rule->on_lease_loss == OnLeaseLoss::keep_running,
                   pass_.rule->key_expiry,
                   sent};
  held.lease = link_->leases.hold(std::move(terms), *this);
  held_bytes_ += taken.item.size();
  held_.insert_or_assign(run, std::move(held));
  return Claim{run, taken.item, std::nullopt, taken.fence, taken.failures + 1};
}

bool CircularSource::may_start(const Claim& claim) const {
  const auto held = held_.find(claim.run);
  return held != held_.end() && !held->second.lease->ends_soon();
}

// ---- settle

void CircularSource::settle(Settlement&& settlement) {
  const Rule& rule = *settlement.rule;
  SettleCall call;
  call.item = settlement.claim.item;
  call.run = settlement.claim.run;
  std::visit(NewLock{call, settlement, link_->identity.host}, settlement.rest);
  call.failures = "keep";
  if (rule.recorded) {
    call.failures = failures_text(settlement.failures);
    call.history = rule.history;
    call.event = end_json(link_->identity.host, settlement);
    if (call.history > 0) call.entry = history_entry(link_->identity.host, settlement);
  }
  put_down(settlement.claim.run, std::move(call));
}

void CircularSource::hand_back(const Claim& claim) {
  SettleCall call;
  call.item = claim.item;
  call.run = claim.run;
  call.failures = "keep";
  put_down(claim.run, std::move(call));
}

void CircularSource::put_down(const RunId& run, SettleCall&& call) {
  const auto held = held_.find(run);
  if (held == held_.end()) return;
  call.lock = std::move(held->second.lock);
  call.value = std::move(held->second.value);
  const auto keys = held->second.keys;
  const Instant lease_ends = held->second.lease->ends();
  const Instant forget_at = lease_ends + held->second.lease->expiry();
  // The renewals end here, and not when Redis has answered: one that overtook the settlement would
  // find the lock gone and take it again, for nobody.
  held_.erase(held);
  held_bytes_ -= call.item.size();
  if (held_back_) make_room();
  const bool freed = call.new_value.empty();
  settlements().add(keys, std::move(call), {lease_ends, forget_at}, wait_of_end(freed));
}

/// The handler is not told from inside its own call.
void CircularSource::make_room() {
  held_back_ = false;
  room_.set(link_->clock.now(), [this] { handler_.on_turn(); });
}

/// Whoever waits for an item or for a place in the fleet is not to wait for other runs' ends.
Settlements::Wait CircularSource::wait_of_end(bool freed) const {
  if (held_.empty()) return Settlements::Wait::none;
  const bool awaited = rule_->fleet_concurrency > 0 || (freed && all_taken_);
  return awaited ? Settlements::Wait::turn : Settlements::Wait::span;
}

void CircularSource::look_all_settled() {
  if (unsettled() == 0) handler_.on_all_settled();
}

/// Told from the loop: this may come from inside somebody's call.
void CircularSource::give_up(const RunId& run, const std::string& why) {
  given_up_.emplace_back(run, why);
  if (tell_given_up_.pending()) return;
  tell_given_up_.set(link_->clock.now(), [this] {
    for (const auto& [id, reason] : std::exchange(given_up_, {})) handler_.on_given_up(id, reason);
  });
}

void CircularSource::on_up() {
  if (settlements_) settlements_->retry();
  if (lost_claims_) lost_claims_->look();
  in_line_ = false;
  line_ = Line::none;
  // After what is settled, and from the loop: a handler is never called from inside somebody's
  // call.
  handler_.on_back();
}

// ---- news

void CircularSource::announce(const RunEvent& event) {
  if (!rule_->recorded || !link_->client.connected()) return;
  // News are for whoever listens; they must not stand in the way of claims and renewals.
  if (link_->client.unsent() > most_unsent) return;
  settlements().publish(keys(),
                        event_json(*rule_, link_->identity.host, event, link_->clock.wall()),
                        held_.size() > 1 ? Settlements::Wait::span : Settlements::Wait::none);
}

void CircularSource::listen(bool on) {
  if (!on) {
    leave_line();
    wake_.reset();
    wake_confirmed_ = false;
    changes_.reset();
    hears_ = false;
    return;
  }
  hear_of_list();
  if (!wake_) {
    // Once the channel is confirmed too: what was published before may have been missed.
    wake_ = link_->subscriber.subscribe(
        keys()->wake, [this](std::string_view, std::string_view message) { heard(message); },
        [this] {
          wake_confirmed_ = true;
          handler_.on_back();
        });
  }
  put_away();
}

/// "free", who has set something free, and whose turn it is; or "looked", and who has. Each on a
/// line of its own. Anything else is somebody's hint.
void CircularSource::heard(std::string_view message) {
  const auto next = [&message] {
    const auto end = message.find('\n');
    const std::string_view line = message.substr(0, end);
    message = end == std::string_view::npos ? std::string_view() : message.substr(end + 1);
    return line;
  };
  const std::string_view news = next();
  if (message.empty()) return handler_.on_wake();
  const std::string me = lock_value({});
  const bool ours = next() == me;
  if (news == "looked") {
    if (!ours) handler_.on_others(false);
    return;
  }
  if (news != "free") return handler_.on_wake();
  const bool for_anybody = message.empty();
  bool for_us = for_anybody && ours;
  while (!message.empty() && !for_us) for_us = next() == me;
  // Where the line is not crowded, a run's end and the next claim travel together.
  if (ours && line_ != Line::crowded) return;
  if (for_us) return handler_.on_turn();
  for_anybody ? handler_.on_wake() : handler_.on_others(true);
}

// ---- at rest

void CircularSource::hear_of_list() {
  const bool on = link_->list_events.on(rule_->key_prefix());
  if (on == static_cast<bool>(changes_)) return;
  changes_.reset();
  hears_ = false;
  if (!on) return;
  changes_ = link_->subscriber.subscribe(
      link_->list_events.channel(CircularKeys::list_of(*rule_)),
      [this](std::string_view, std::string_view event) {
        if (ListEvents::adds(event)) list_changed();
      },
      [this] {
        hears_ = true;
        list_changed();
      });
}

void CircularSource::list_changed() {
  if (empty_) return handler_.on_wake();
  if (look_again_.pending()) return;
  look_again_.set(link_->clock.now() + change_pause, [this] {
    ask_if_locked([this, alive = alive_](const LookReply& reply, std::int64_t) {
      if (*alive && reply.worth_it) handler_.on_wake();
    });
  });
}

void CircularSource::look() {
  hear_of_list();
  const auto answer = [this, alive = alive_](LookReply reply, std::int64_t) {
    if (!*alive) return;
    reply.hears = hears_ && link_->subscriber.connected();
    handler_.on_looked(reply);
  };
  if (empty_) {
    link_->looks.if_empty(CircularKeys::list_of(*rule_), answer);
  } else {
    ask_if_locked(answer);
  }
}

void CircularSource::ask_if_locked(Looks::Answer answer) {
  if (place_ >= length_) place_ = 0;
  link_->looks.if_locked(CircularKeys::list_of(*rule_), CircularKeys::lock_prefix_of(*rule_),
                         length_, place_,
                         [this, alive = alive_, from = place_, answer = std::move(answer)](
                             const LookReply& reply, std::int64_t seen) {
                           if (*alive) place_ = from + seen;
                           answer(reply, seen);
                         });
}

}  // namespace w8y::source
