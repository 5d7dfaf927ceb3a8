#include "store/breaker.hpp"

#include "store/store_error.hpp"

namespace w8y::store {

std::string breaker_limits(const ListConfig& rule) {
  if (rule.breaker.runs == 0) return {};
  const Backoff pauses = rule.backoff.value_or(Backoff{});
  return std::to_string(rule.breaker.failures()) + ' ' + std::to_string(rule.breaker.runs) + ' ' +
         ms_text(pauses.min) + ' ' + ms_text(pauses.max);
}

std::string breaker_entry(const EndedRun& run) {
  if (run.never_began() != nullptr) return {};
  switch (counts_as(run)) {
    case Counts::success:
      return "+";
    case Counts::failure:
      return "-";
    case Counts::neither:
      break;
  }
  return {};
}

}  // namespace w8y::store
