// Write errors of a schedule, merged into one text that is reported at each refusal, and when
// writes succeed again.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "store/claim_result.hpp"
#include "store/rights.hpp"

namespace w8y::store {

class Refusals {
 public:
  using Tell = std::function<void(const std::string& why)>;
  explicit Refusals(Tell tell) : tell_(std::move(tell)) {}

  /// Records a write error of a settlement; empty = writes succeed again.
  void of_ends(const std::string& refused) { note(of_ends_, refused); }

  /// Records the result of a claim. A successful claim may not have read a queue of a wrong type,
  /// and an empty one has written nothing. Only both together show that there is no error any more.
  /// `claimed`: whether it has returned jobs.
  void of_claim(const ClaimResult& result, bool claimed) {
    if (!result.refused.empty()) {
      took_ = saw_all_ = false;
      return note(of_takes_, result.refused);
    }
    took_ = took_ || claimed;
    saw_all_ = saw_all_ || result.end == ClaimEnd::empty;
    if (took_ && saw_all_) note(of_takes_, {});
  }

 private:
  void note(std::string& kept, const std::string& refused) {
    if (kept.empty() && refused.empty()) return;
    kept = refused;
    std::string why = of_takes_.empty() ? std::string() : missing_right(of_takes_);
    if (!of_ends_.empty() && of_ends_ != of_takes_)
      why += (why.empty() ? "" : "; ") + missing_right(of_ends_);
    tell_(why);
  }

  const Tell tell_;
  std::string of_takes_;
  std::string of_ends_;
  bool took_ = false;     ///< since the last refusal, a claim has returned jobs
  bool saw_all_ = false;  ///< since the last refusal, a claim has read every queue
};

}  // namespace w8y::store
