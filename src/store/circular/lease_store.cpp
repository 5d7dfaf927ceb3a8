#include "store/circular/lease_store.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/item.hpp"
#include "store/circular/settlements.hpp"

namespace w8y::store {

void CircularLeaseStore::renew(const Batch& leases, Answer answer) {
  const LeaseTerms& common = leases.front()->terms;
  RenewCall call{keys_, common.fleet, common.expiry, {}};
  for (const auto& each : leases)
    call.locks.push_back({each->terms.key, each->terms.value, records(*each)});
  // The leases keep this object alive.
  session_.circular.locks.renew(
      call, [this, sent = session_.clock.now(), leases, answer = std::move(answer)](
                const RenewResult* result, const StoreError&) mutable {
        if (result == nullptr) return answer(nullptr);
        session_.server_clock.note(result->now, sent, session_.clock.now());
        retake(leases, *result, std::move(answer));
      });
}

/// Returns whether a renewal records the claim. One confirmed renewal is enough for a short item,
/// since recover() reads its lock. Each renewal records a long item, since its record has only the
/// start of the item and thus no lock name.
bool CircularLeaseStore::records(const LeaseState& lease) const {
  return records_ &&
         (!lease.confirmed || lease.terms.key.size() - keys_.lock_prefix.size() > item_shown + 1);
}

/// Claims locks again that a renewal found missing, in a separate call with a time limit. The limit
/// is a time of the Redis clock, which the reply to the renewal contained. If the call arrives
/// after the lease has ended, another host may have run the item; then it changes nothing.
void CircularLeaseStore::retake(const Batch& leases, const RenewResult& found, Answer&& answer) {
  const LeaseTerms& common = leases.front()->terms;
  const Instant now = session_.clock.now();
  RenewCall call{keys_, common.fleet, common.expiry, {}};
  std::vector<std::size_t> places;
  Duration time = common.expiry;
  for (std::size_t i = 0; i < std::min(leases.size(), found.states.size()); ++i) {
    const LeaseState& lease = *leases[i];
    if (found.states[i] != Renewed::gone || !lease.terms.retake || lease.ended()) continue;
    places.push_back(i);
    call.locks.push_back({lease.terms.key, lease.terms.value, records_});
    // Another host may already have run the item of a lost lease, so that a late call does no
    // further harm.
    if (!lease.lost) time = std::min(time, std::max(lease.ends - now, Duration(0)));
  }
  if (places.empty()) return answer(&found.states);
  call.retake_until = found.now + std::chrono::duration_cast<WallTime>(time);
  session_.circular.locks.renew(call, [states = found.states, places, answer = std::move(answer)](
                                          const RenewResult* result, const StoreError&) mutable {
    if (result != nullptr) {
      for (std::size_t i = 0; i < std::min(places.size(), result->states.size()); ++i)
        states[places[i]] = result->states[i];
    }
    answer(&states);
  });
}

void CircularLeaseStore::let_go(const LeaseTerms& lease) {
  SettleCall call;
  call.lock = lease.key;
  call.value = lease.value;
  call.item = lease.key.substr(keys_.lock_prefix.size());
  call.failures = "keep";
  call.run = lease.run;
  call.recorded = records_;
  settle_once(session_, keys_, call);
}

}  // namespace w8y::store
