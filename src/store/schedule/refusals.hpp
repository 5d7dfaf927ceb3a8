// What Redis refuses of a schedule beside the keys of its jobs, as one text that is told at each
// refusal, and when all is well again.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "store/rights.hpp"
#include "store/schedule/take_call.hpp"

namespace w8y::store {

class Refusals {
 public:
  using Tell = std::function<void(const std::string& why)>;
  explicit Refusals(Tell tell) : tell_(std::move(tell)) {}

  /// Of what an end writes; empty: nothing any more.
  void of_ends(const std::string& refused) { note(of_ends_, refused); }

  /// A take that got what it wanted may have passed a queue of a wrong type by, and one that got
  /// nothing has noted nothing: only both together say that all is well.
  void of_take(const TakeResult& result) {
    if (!result.refused.empty()) {
      took_ = saw_all_ = false;
      return note(of_takes_, result.refused);
    }
    took_ = took_ || !result.taken.empty();
    saw_all_ = saw_all_ || result.status == TakeStatus::empty;
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
  bool took_ = false;     ///< since the last refusal, a take had jobs
  bool saw_all_ = false;  ///< since the last refusal, a take has visited each queue
};

}  // namespace w8y::store
