#include "store/leases.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace w8y::store {

namespace {

/// Returns how long before its end a lease is reported as expiring: enough for SIGKILL and reaping
/// on a busy host.
Duration warning(Duration expiry) {
  return std::min<Duration>(expiry / 4, std::chrono::seconds(1));
}

/// Returns the delay after which a failed renewal is retried.
Duration pause_before_retry(Duration expiry) {
  return std::clamp<Duration>(expiry / 20, std::chrono::milliseconds(20), std::chrono::seconds(1));
}

}  // namespace

Leases::Leases(const Clock& clock, TimerQueue& timers)
    : clock_(clock), timer_(timers), alive_(std::make_shared<bool>(true)) {}

Leases::~Leases() {
  *alive_ = false;
}

Leases::Lease& Leases::Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  leases_ = other.leases_;
  held_ = std::move(other.held_);
  return *this;
}

void Leases::Lease::let_go() {
  if (!held_) return;
  held_->handler = nullptr;
  leases_->due_.erase(held_->place);
  held_.reset();
}

bool Leases::Lease::ends_soon() const {
  return leases_->clock_.now() >= held_->ends - warning(held_->terms.expiry);
}

LeaseTerms Leases::Lease::end() {
  const std::shared_ptr<Held> held = held_;
  let_go();
  if (held.use_count() > 1) return held->terms;  // a call in flight uses it as well
  return std::move(held->terms);
}

Leases::Lease Leases::hold(LeaseTerms terms, LeaseHandler& handler) {
  const auto held = std::make_shared<Held>(std::move(terms), handler, ++made_);
  held->ends = held->terms.claimed + held->terms.expiry;
  const Duration third = held->terms.expiry / 3;
  const Duration confirm = held->terms.confirm;
  held->renew_at = held->terms.claimed + (confirm > Duration{0} ? std::min(confirm, third) : third);
  // Most leases are due after all others.
  held->place = due_.emplace_hint(due_.end(), std::pair(held->renew_at, held->number), held.get());
  arm();
  return {*this, held};
}

void Leases::renew_now() {
  Batch all;
  for (const auto& [at, lease] : due_) {
    lease->renewing = false;  // its request was lost with the old connection
    all.push_back(lease);
  }
  for (Held* lease : all) {
    lease->renew_at = clock_.now();
    schedule(*lease, lease->renew_at);
  }
  arm();
}

void Leases::schedule(Held& lease, Instant at) {
  auto entry = due_.extract(lease.place);
  entry.key().first = at;
  lease.place = due_.insert(due_.end(), std::move(entry));
}

void Leases::arm() {
  if (due_.empty()) {
    timer_.cancel();
  } else if (const Instant first = due_.begin()->first.first; timer_.deadline() != first) {
    timer_.set(first, [this] { run_due(); });
  }
}

void Leases::run_due() {
  const Instant now = clock_.now();
  Asked due;
  for (const auto& [at, lease] : due_) {
    // Leases that are due soon are renewed as well, which makes fewer and larger calls.
    if (at.first > now + lease->terms.expiry / 20) break;
    due.push_back(lease->shared_from_this());
  }

  Batch to_send;
  for (const auto& lease : due) {
    if (lease->handler == nullptr) continue;  // a handler has ended the lease
    const Duration expiry = lease->terms.expiry;
    const Instant warn_at = lease->ends - warning(expiry);
    if (now >= warn_at && !lease->warned) {
      lease->warned = true;
      lease->handler->lease_expiring(lease->terms.run);
      if (lease->handler == nullptr) continue;
    }
    if (now >= lease->ends && !lease->lost) {
      lease->lost = true;
      lease->handler->lease_lost(lease->terms.run);
      if (lease->handler == nullptr) continue;
    }
    const Instant next_alarm = !lease->warned ? warn_at : lease->ends;
    if (!lease->renewing && lease->renew_at <= now + expiry / 20) {
      to_send.push_back(lease.get());
      lease->renewing = true;
    }
    schedule(*lease, lease->lost ? now + pause_before_retry(expiry)
                                 : std::max(next_alarm, now + Duration(1)));
  }
  send(std::move(to_send));
  arm();
}

/// Compares in renewal order: leases that can still be saved come before lost ones, then the
/// earliest end is first.
bool Leases::is_more_urgent(const Held* a, const Held* b) {
  return std::pair(a->lost, a->ends) < std::pair(b->lost, b->ends);
}

/// Sends the most urgent renewals first, and those of long items after all others.
void Leases::send(Batch&& leases) {
  // The leases are in this order already, unless a renewal failed or key_expiry differs.
  if (!std::is_sorted(leases.begin(), leases.end(), is_more_urgent))
    std::sort(leases.begin(), leases.end(), is_more_urgent);
  const auto large = std::stable_partition(leases.begin(), leases.end(), [](const Held* lease) {
    return lease->terms.key.size() <= short_name;
  });
  send_all({leases.begin(), large});
  std::size_t bytes = asked_;
  auto last = large;
  for (; last != leases.end(); ++last) {
    bytes += (*last)->terms.key.size();
    if (bytes > most_asked && bytes > (*last)->terms.key.size()) break;
  }
  for (auto lease = last; lease != leases.end(); ++lease) {
    not_renewed(**lease);
    delayed_.push_back((*lease)->shared_from_this());
  }
  send_all({large, last});
}

/// Sends renewals in calls that each have one list, one expiry, and at most the size of a batch.
/// The call with the most urgent lease is sent first.
void Leases::send_all(std::span<Held* const> leases) {
  using Kind = std::tuple<const LeaseStore*, bool, Duration>;
  struct Open {
    Batch batch;
    std::size_t bytes = 0;
  };
  std::map<Kind, Open> kinds;
  std::vector<Open> calls;
  for (Held* lease : leases) {
    const LeaseTerms& terms = lease->terms;
    Open& open = kinds[{terms.store.get(), terms.fleet, terms.expiry}];
    const bool full =
        open.batch.size() == batch_size || open.bytes + terms.key.size() > batch_bytes;
    if (full && !open.batch.empty()) {
      calls.push_back(std::exchange(open, {}));
    }
    open.batch.push_back(lease);
    open.bytes += terms.key.size();
  }
  for (auto& [kind, open] : kinds) calls.push_back(std::move(open));
  std::stable_sort(calls.begin(), calls.end(), [](const Open& a, const Open& b) {
    return is_more_urgent(a.batch.front(), b.batch.front());
  });
  for (const Open& call : calls) send_batch(call.batch, call.bytes);
}

void Leases::send_batch(const Batch& batch, std::size_t bytes) {
  Asked asked;
  for (Held* lease : batch) {
    lease->renewed = true;
    asked.push_back(lease->shared_from_this());
  }
  asked_ += bytes;
  batch.front()->terms.store->renew({asked.begin(), asked.end()},
                                    [this, alive = alive_, sent = clock_.now(), bytes,
                                     asked](const std::vector<Renewed>* states) {
                                      if (!*alive) return;
                                      asked_ -= bytes;
                                      answered(asked, sent, states);
                                      send_delayed();
                                      arm();
                                    });
}

void Leases::answered(const Asked& asked, Instant sent, const std::vector<Renewed>* states) {
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Held& lease = *asked[i];
    const bool told = states != nullptr && i < states->size();
    if (lease.handler == nullptr) {
      if (told && (*states)[i] == Renewed::retaken) lease.terms.store->let_go(lease.terms);
    } else if (!told) {
      not_renewed(lease);
    } else {
      renewed(lease, sent, (*states)[i]);
    }
  }
}

void Leases::send_delayed() {
  for (const auto& lease : std::exchange(delayed_, {})) {
    if (lease->handler == nullptr || lease->renewing) continue;
    lease->renew_at = clock_.now();
    schedule(*lease, lease->renew_at);
  }
}

void Leases::not_renewed(Held& lease) {
  lease.renewing = false;
  lease.renew_at = clock_.now() + pause_before_retry(lease.terms.expiry);
  schedule(lease, std::min(lease.place->first.first, lease.renew_at));
}

void Leases::renewed(Held& lease, Instant sent, Renewed state) {
  if (state == Renewed::refused) return not_renewed(lease);
  lease.renewing = false;
  const Duration expiry = lease.terms.expiry;
  if (state == Renewed::foreign || state == Renewed::gone) {
    lease.renew_at = clock_.now() + expiry / 3;  // the lock may become free again, and this host
                                                 // can regain it
    schedule(lease, lease.renew_at);
    if (std::exchange(lease.lost, true)) return;
    lease.handler->lease_lost(lease.terms.run);
    return;
  }
  margins_.note(clock_.now(), lease.ends - clock_.now());
  lease.confirmed = true;
  lease.ends = sent + expiry;
  lease.renew_at = sent + expiry / 3;
  lease.warned = false;
  schedule(lease, lease.renew_at);
  if (std::exchange(lease.lost, false)) lease.handler->lease_back(lease.terms.run);
}

}  // namespace w8y::store
