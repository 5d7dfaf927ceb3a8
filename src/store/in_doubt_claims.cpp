#include "store/in_doubt_claims.hpp"

#include <utility>

#include "store/store_error.hpp"

namespace w8y::store {

void InDoubtClaims::undo(ScriptCall call, Instant until) {
  claims_.push_back({std::move(call), until});
  send();
}

/// Sends the first call. The others follow one by one, so that Redis serves other clients between.
void InDoubtClaims::send() {
  while (!sent_ && !claims_.empty() && claims_.front().until < clock_.now()) claims_.pop_front();
  if (sent_ || claims_.empty()) return;
  sent_ = true;
  claims_.front().call.run(client_, [this](const redis::Answer& answer) {
    sent_ = false;
    const auto trouble = trouble_of(answer);
    if (trouble && !trouble->about_keys()) return;  // sent again when Redis is available
    claims_.pop_front();
    send();
  });
}

}  // namespace w8y::store
