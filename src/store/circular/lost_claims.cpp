#include "store/circular/lost_claims.hpp"

#include <algorithm>
#include <utility>

namespace w8y::store {

namespace {

constexpr Duration retry_pause = std::chrono::milliseconds(500);
}  // namespace

LostClaims::LostClaims(RedisSession& session, std::function<void()> none_left)
    : session_(session),
      none_left_(std::move(none_left)),
      timer_(session.timers),
      retry_(session.timers),
      pause_(session.timers),
      alive_(std::make_shared<bool>(true)) {}

LostClaims::~LostClaims() {
  *alive_ = false;
}

void LostClaims::add(std::shared_ptr<const CircularKeys> keys, std::string value_prefix,
                     const std::vector<RunId>& runs, Duration expiry) {
  Lost lost;
  lost.keys = std::move(keys);
  lost.value_prefix = std::move(value_prefix);
  lost.runs = runs;
  lost.until = session_.clock.now() + expiry;
  lost_.emplace(++last_id_, std::move(lost));
  arm();
}

void LostClaims::look() {
  // Other hosts may have rotated the list since.
  for (auto& [id, lost] : lost_)
    if (!lost.asking) lost.looked = 0;
  go_on();
}

void LostClaims::go_on() {
  pause_.cancel();
  std::vector<Id> ids;
  for (const auto& [id, lost] : lost_)
    if (!lost.asking) ids.push_back(id);
  for (const Id id : ids) step(id, lost_.at(id));
  if (!lost_.empty()) retry_.set(session_.clock.now() + retry_pause, [this] { go_on(); });
}

void LostClaims::step(Id id, Lost& lost) {
  const std::size_t at_once = ScriptLocks::at_once(lost.longest);
  lost.asking = true;
  session_.circular.locks.undo({*lost.keys, lost.value_prefix, lost.runs, lost.looked, at_once},
                               [this, alive = alive_, id, at_once, made = session_.large_call()](
                                   const UndoResult* result, const StoreError& trouble) {
                                 if (!*alive) return;
                                 if (result != nullptr && result->bytes >= RedisSession::large)
                                   session_.large_answered(made);
                                 const auto found = lost_.find(id);
                                 if (found == lost_.end()) return;
                                 found->second.asking = false;
                                 if (result != nullptr) return looked(id, found->second, *result);
                                 not_looked(id, found->second, trouble, at_once);
                               });
}

void LostClaims::looked(Id id, Lost& lost, const UndoResult& result) {
  for (const RunId& run : result.freed) std::erase(lost.runs, run);
  lost.looked += result.looked;
  lost.longest = result.longest;
  if (lost.runs.empty() || result.whole) return forget(id);
  if (session_.may_call_large()) return step(id, lost);
  if (!pause_.pending()) pause_.set(session_.large_after(), [this] { go_on(); });
}

/// Retries the search later, in go_on(). If Redis refuses it, the search is tried only once more,
/// since it may succeed in another form.
void LostClaims::not_looked(Id id, Lost& lost, const StoreError& trouble, std::size_t at_once) {
  if (trouble.about_keys()) {
    if (std::exchange(lost.refused, true)) return forget(id);
    return step(id, lost);
  }
  if (!trouble.maybe_done) return;
  // The reply may have been too large for the connection. Reads fewer items, and skips an item that
  // fails on its own.
  if (at_once == 1) ++lost.looked;
  lost.longest.reset();
}

void LostClaims::forget(Id id) {
  lost_.erase(id);
  arm();
  if (lost_.empty()) none_left_();
}

void LostClaims::arm() {
  if (lost_.empty()) {
    retry_.cancel();
    return timer_.cancel();
  }
  const auto first = std::min_element(lost_.begin(), lost_.end(), [](const auto& a, const auto& b) {
    return a.second.until < b.second.until;
  });
  timer_.set(first->second.until, [this, id = first->first] { forget(id); });
}

}  // namespace w8y::store
