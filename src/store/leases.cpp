#include "store/leases.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace w8y::store {

namespace {

/// How long before its end a lease is called expiring: time for a SIGKILL and its reaping, on a
/// busy host too.
Duration warning(Duration expiry) {
  return std::min<Duration>(expiry / 4, std::chrono::seconds(1));
}

/// A renewal that failed is tried again this soon.
Duration retry_pause(Duration expiry) {
  return std::clamp<Duration>(expiry / 20, std::chrono::milliseconds(20), std::chrono::seconds(1));
}

}  // namespace

Leases::Leases(const Clock& clock, TimerQueue& timers, LockStore& store)
    : clock_(clock), store_(store), timer_(timers), alive_(std::make_shared<bool>(true)) {}

Leases::~Leases() {
  *alive_ = false;
}

Leases::Lease::~Lease() {
  *self_ = nullptr;
  leases_.due_.erase({due_, number_, this});
}

bool Leases::Lease::ends_soon() const {
  return leases_.clock_.now() >= ends_ - warning(terms_->expiry);
}

std::unique_ptr<Leases::Lease> Leases::hold(LeaseTerms terms, LeaseHandler& handler) {
  std::unique_ptr<Lease> lease(new Lease(*this, std::move(terms), handler));
  lease->ends_ = lease->terms_->claimed + lease->terms_->expiry;
  lease->renew_at_ = lease->terms_->claimed + lease->terms_->expiry / 3;
  schedule(*lease, lease->renew_at_);
  arm();
  return lease;
}

void Leases::renew_now() {
  std::vector<Lease*> all;
  for (const auto& [at, number, lease] : due_) {
    lease->renewing_ = false;  // what was in flight is gone with the old connection
    all.push_back(lease);
  }
  for (Lease* lease : all) {
    lease->renew_at_ = clock_.now();
    schedule(*lease, lease->renew_at_);
  }
  arm();
}

void Leases::schedule(Lease& lease, Instant at) {
  due_.erase({lease.due_, lease.number_, &lease});
  lease.due_ = at;
  due_.emplace(at, lease.number_, &lease);
}

void Leases::arm() {
  if (due_.empty()) {
    timer_.cancel();
  } else if (const Instant first = std::get<Instant>(*due_.begin()); timer_.deadline() != first) {
    timer_.set(first, [this] { run_due(); });
  }
}

void Leases::run_due() {
  const Instant now = clock_.now();
  std::vector<std::shared_ptr<Lease*>> due;
  for (const auto& [at, number, lease] : due_) {
    // Those that are due a little later go along: fewer, larger calls.
    if (at > now + lease->terms_->expiry / 20) break;
    due.push_back(lease->self_);
  }

  std::vector<Lease*> to_send;
  for (const auto& self : due) {
    Lease* lease = *self;
    if (lease == nullptr) continue;  // a handler has let it go
    const Instant warn_at = lease->ends_ - warning(lease->terms_->expiry);
    if (now >= warn_at && !lease->warned_) {
      lease->warned_ = true;
      lease->handler_.lease_expiring(lease->terms_->run);
      if (*self == nullptr) continue;
    }
    if (now >= lease->ends_ && !lease->lost_) {
      lease->lost_ = true;
      lease->handler_.lease_lost(lease->terms_->run);
      if (*self == nullptr) continue;
    }
    const Instant next_alarm = !lease->warned_ ? warn_at : lease->ends_;
    if (!lease->renewing_ && lease->renew_at_ <= now + lease->terms_->expiry / 20) {
      to_send.push_back(lease);
      lease->renewing_ = true;
    }
    const Duration look_again = retry_pause(lease->terms_->expiry);
    schedule(*lease, lease->lost_ ? now + look_again : std::max(next_alarm, now + Duration(1)));
  }
  send(std::move(to_send));
  arm();
}

/// Those of long items are called for behind all others, the first to end first.
void Leases::send(std::vector<Lease*>&& leases) {
  const auto large = std::partition(leases.begin(), leases.end(), [](const Lease* lease) {
    return lease->terms_->key.size() <= short_name;
  });
  std::sort(large, leases.end(),
            [](const Lease* a, const Lease* b) { return a->ends_ < b->ends_; });
  send_all({leases.begin(), large});
  std::size_t bytes = asked_;
  auto last = large;
  for (; last != leases.end(); ++last) {
    bytes += (*last)->terms_->key.size();
    if (bytes > most_asked && bytes > (*last)->terms_->key.size()) break;
  }
  for (auto lease = last; lease != leases.end(); ++lease) {
    not_renewed(**lease);
    delayed_.push_back((*lease)->self_);
  }
  send_all({large, last});
}

/// One call holds locks of one prefix and one life, and no more than a batch.
void Leases::send_all(const Batch& leases) {
  using Kind = std::tuple<const LeaseStore*, std::string_view, bool, Duration>;
  struct Open {
    Batch batch;
    std::size_t bytes = 0;
  };
  std::map<Kind, Open> kinds;
  for (Lease* lease : leases) {
    const LeaseTerms& terms = *lease->terms_;
    const std::string_view list = terms.keys ? terms.keys->slots : std::string_view();
    Open& open = kinds[{terms.store.get(), list, terms.fleet, terms.expiry}];
    const bool full =
        open.batch.size() == batch_size || open.bytes + terms.key.size() > batch_bytes;
    if (full && !open.batch.empty()) {
      send_batch(open.batch, open.bytes);
      open = {};
    }
    open.batch.push_back(lease);
    open.bytes += terms.key.size();
  }
  for (const auto& [kind, open] : kinds) send_batch(open.batch, open.bytes);
}

void Leases::send_batch(const Batch& batch, std::size_t bytes) {
  std::vector<Asked> asked;
  for (const Lease* lease : batch) asked.push_back({lease->self_, lease->terms_});
  asked_ += bytes;
  const auto& store = batch.front()->terms_->store;
  const LeaseStore::Answer answer = [this, alive = alive_, sent = clock_.now(), bytes,
                                     asked](const std::vector<Renewed>* states) {
    if (!*alive) return;
    asked_ -= bytes;
    answered(asked, sent, states);
    send_delayed();
    arm();
  };
  if (!store) return renew_locks(asked, answer);
  LeaseStore::Batch leases;
  for (const Asked& each : asked) leases.push_back(each.terms);
  store->renew(leases, answer);
}

void Leases::renew_locks(const std::vector<Asked>& batch, const LeaseStore::Answer& answer) {
  const LeaseTerms& common = *batch.front().terms;
  RenewCall call{common.keys->slots, common.fleet, common.expiry, {}};
  for (const Asked& each : batch) call.locks.push_back({each.terms->key, each.terms->value});
  store_.renew(call,
               [this, alive = alive_, batch, answer](const RenewResult* result, const StoreError&) {
                 if (!*alive) return;
                 if (result == nullptr) return answer(nullptr);
                 retake(batch, *result, answer);
               });
}

/// What was found gone is taken again in a call of its own, which says until when that may be. It
/// knows Redis's clock from the call before. If it is held on its way until the lease is over,
/// others may have run the item; then it takes nothing.
void Leases::retake(const std::vector<Asked>& batch, const RenewResult& found,
                    const LeaseStore::Answer& answer) {
  const LeaseTerms& common = *batch.front().terms;
  const Instant now = clock_.now();
  RenewCall call{common.keys->slots, common.fleet, common.expiry, {}};
  std::vector<std::size_t> places;
  Duration time = common.expiry;
  for (std::size_t i = 0; i < std::min(batch.size(), found.states.size()); ++i) {
    const Lease* lease = *batch[i].lease;
    if (found.states[i] != Renewed::gone || !batch[i].terms->retake || lease == nullptr) continue;
    places.push_back(i);
    call.locks.push_back({batch[i].terms->key, batch[i].terms->value});
    // One that is lost may have been run by others already: a late call changes nothing there.
    if (!lease->lost_) time = std::min(time, std::max(lease->ends_ - now, Duration(0)));
  }
  if (places.empty()) return answer(&found.states);
  call.retake_until = found.now + std::chrono::duration_cast<WallTime>(time);
  store_.renew(call, [states = found.states, places, answer](const RenewResult* result,
                                                             const StoreError&) mutable {
    if (result != nullptr) {
      for (std::size_t i = 0; i < std::min(places.size(), result->states.size()); ++i)
        states[places[i]] = result->states[i];
    }
    answer(&states);
  });
}

void Leases::answered(const std::vector<Asked>& asked, Instant sent,
                      const std::vector<Renewed>* states) {
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Lease* lease = *asked[i].lease;
    const bool told = states != nullptr && i < states->size();
    if (lease == nullptr) {
      if (told && (*states)[i] == Renewed::retaken) let_go(*asked[i].terms);
    } else if (!told) {
      not_renewed(*lease);
    } else {
      renewed(*lease, sent, (*states)[i]);
    }
  }
}

void Leases::send_delayed() {
  for (const auto& self : std::exchange(delayed_, {})) {
    if (*self == nullptr || (*self)->renewing_) continue;
    (*self)->renew_at_ = clock_.now();
    schedule(**self, (*self)->renew_at_);
  }
}

/// A renewal may come to Redis behind the settlement of its run (a script that had to be sent
/// again): then it has taken a lock for nobody.
void Leases::let_go(const LeaseTerms& terms) {
  if (terms.store) return terms.store->let_go(terms);
  SettleCall call;
  call.lock = terms.key;
  call.value = terms.value;
  call.item = terms.key.substr(terms.keys->lock_prefix.size());
  call.failures = "keep";
  call.run = terms.run;
  store_.settle(*terms.keys, {&call}, [](std::size_t, const StoreError*) {});
}

void Leases::not_renewed(Lease& lease) {
  lease.renewing_ = false;
  lease.renew_at_ = clock_.now() + retry_pause(lease.terms_->expiry);
  schedule(lease, std::min(lease.due_, lease.renew_at_));
}

void Leases::renewed(Lease& lease, Instant sent, Renewed state) {
  if (state == Renewed::refused) return not_renewed(lease);
  lease.renewing_ = false;
  const Duration expiry = lease.terms_->expiry;
  if (state == Renewed::foreign || state == Renewed::gone) {
    lease.renew_at_ = clock_.now() + expiry / 3;  // it may become free again, and ours
    schedule(lease, lease.renew_at_);
    if (std::exchange(lease.lost_, true)) return;
    lease.handler_.lease_lost(lease.terms_->run);
    return;
  }
  margins_.note(clock_.now(), lease.ends_ - clock_.now());
  lease.ends_ = sent + expiry;
  lease.renew_at_ = sent + expiry / 3;
  lease.warned_ = false;
  schedule(lease, lease.renew_at_);
  if (std::exchange(lease.lost_, false)) lease.handler_.lease_back(lease.terms_->run);
}

}  // namespace w8y::store
