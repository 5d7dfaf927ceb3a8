#include "store/circular/settlements.hpp"

#include <algorithm>
#include <utility>

#include "store/run_record.hpp"
#include "store/scripts.hpp"
#include "store/settlements_impl.hpp"

namespace w8y::store {

namespace {

/// Returns the lock value without the run ID.
std::string_view holder(const SettleCall& call) {
  return std::string_view(call.value).substr(0, call.value.size() - call.run.size());
}

/// Returns whether two settlements differ only in run and item.
bool same_kind(const SettleCall& a, const SettleCall& b) {
  return a.new_value == b.new_value && a.new_life == b.new_life && a.note == b.note &&
         a.failures == b.failures && a.again == b.again && a.stale == b.stale &&
         a.recorded == b.recorded && a.history == b.history && a.kept == b.kept &&
         a.breaker == b.breaker && holder(a) == holder(b);
}

/// Keys and arguments of settle.lua. They point into the calls and into this object.
class SettleWords {
 public:
  SettleWords(const CircularKeys& keys, const std::vector<const SettleCall*>& calls)
      : keys_{keys.failures, keys.slots, keys.runs, keys.quarantined} {
    keys_.reserve(keys_.size() + calls.size() + 1);
    for (const SettleCall* call : calls) keys_.push_back(call->lock);
    keys_.push_back(keys.waiting);
    find_kinds(calls);
    arguments_.reserve(words_);
    numbers_.reserve(1 + kinds_.size() * 3);
    arguments_ = {keys.events, keys.wake, keys.lock_prefix, number(std::to_string(kinds_.size())),
                  limits_of(calls)};
    for (const SettleCall* kind : kinds_) add_kind(*kind);
    for (std::size_t i = 0; i < calls.size(); ++i) add_call(*calls[i], names_[kind_of_[i]]);
  }
  SettleWords(const SettleWords&) = delete;
  SettleWords& operator=(const SettleWords&) = delete;

  [[nodiscard]] const redis::Command& keys() const { return keys_; }
  [[nodiscard]] const redis::Command& arguments() const { return arguments_; }

 private:
  void find_kinds(const std::vector<const SettleCall*>& calls) {
    kind_of_.reserve(calls.size());
    for (const SettleCall* call : calls) {
      const auto kind = std::find_if(kinds_.begin(), kinds_.end(), [&](const SettleCall* each) {
        return same_kind(*each, *call);
      });
      kind_of_.push_back(static_cast<std::size_t>(kind - kinds_.begin()));
      if (kind == kinds_.end()) {
        kinds_.push_back(call);
        words_ += 11;
      }
      words_ += 4;
    }
  }

  void add_kind(const SettleCall& kind) {
    names_.push_back(number(std::to_string(names_.size() + 1)));
    arguments_.insert(
        arguments_.end(),
        {holder(kind), kind.new_value, number(ms_text(kind.new_life)), kind.note, kind.failures,
         kind.again ? "1" : "0", kind.stale ? "1" : "0", number(to_text(kind.history)), kind.kept,
         kind.recorded ? "1" : "0", kind.breaker});
  }

  /// Returns the limits of the breaker. A claim that is handed back has none.
  static std::string_view limits_of(const std::vector<const SettleCall*>& calls) {
    for (const SettleCall* call : calls)
      if (!call->breaker_limits.empty()) return call->breaker_limits;
    return {};
  }

  void add_call(const SettleCall& call, std::string_view kind) {
    arguments_.insert(arguments_.end(), {kind, call.run, call.event, call.more});
  }

  std::string_view number(std::string text) { return numbers_.emplace_back(std::move(text)); }

  redis::Command keys_;
  redis::Command arguments_;
  std::size_t words_ = 5;
  std::vector<const SettleCall*> kinds_;  ///< first call of each kind
  std::vector<std::size_t> kind_of_;      ///< kind of each call, as an index
  std::vector<std::string> numbers_;      ///< reserved, because the arguments point to them
  std::vector<std::string_view> names_;   ///< of the kinds
};

}  // namespace

void CircularEnds::send(RedisSession& session, const Keys& keys,
                        const std::vector<const Call*>& calls, Answer answer) {
  const SettleWords words(keys, calls);
  // A quarantine is settled alone.
  std::function<void()> on_quarantined = calls.front()->on_quarantined;
  ScriptLocks& locks = session.circular.locks;
  session.client.run(scripts::settle, words.keys(), words.arguments(),
                     [&locks, count = calls.size(), on_quarantined = std::move(on_quarantined),
                      answer = std::move(answer)](const redis::Answer& got) {
                       auto trouble = trouble_of(got);
                       if (trouble) {
                         locks.note_refusal(got);
                       } else if (const auto refused = got.reply[1].text(); !refused.empty()) {
                         // The next claim reports whether a permission is missing.
                         locks.set_proven(false);
                         trouble = refused_beside(refused, got.reply[0].integer() > 0);
                       }
                       if (on_quarantined && !trouble_of(got) && got.reply[2].integer() > 0)
                         on_quarantined();
                       for (std::size_t i = 0; i < count; ++i)
                         answer(i, trouble ? &*trouble : nullptr);
                     });
}

template class Settlements<CircularEnds>;

}  // namespace w8y::store
