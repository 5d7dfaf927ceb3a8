#include "store/thoonk/job_ends.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "store/run_record.hpp"
#include "store/scripts.hpp"
#include "store/settlements_impl.hpp"

namespace w8y::store::thoonk {

namespace {

/// Returns whether two settlements differ only in run and job.
bool same_kind(const EndCall& a, const EndCall& b) {
  return std::string_view(a.effect) == b.effect && a.hold == b.hold && a.again == b.again &&
         a.history == b.history && a.kept == b.kept && a.max_result == b.max_result &&
         a.breaker == b.breaker && a.holder == b.holder;
}

/// Keys and arguments of job_settle.lua. They point into the calls and into this object.
class EndWords {
 public:
  EndWords(const FeedKeys& keys, const std::vector<const EndCall*>& calls)
      : keys_{keys.ids,       keys.items,    keys.claimed, keys.cancelled, keys.stalled,
              keys.published, keys.finishes, keys.taken,   keys.slots,     keys.runs} {
    find_kinds(calls);
    arguments_.reserve(words_);
    numbers_.reserve(1 + kinds_.size() * 4);
    arguments_ = {keys.wake,
                  keys.events,
                  keys.finish_channel,
                  keys.lease_prefix,
                  number(std::to_string(kinds_.size())),
                  limits_of(calls)};
    for (const EndCall* kind : kinds_) add_kind(*kind);
    for (std::size_t i = 0; i < calls.size(); ++i) add_call(*calls[i], names_[kind_of_[i]]);
  }
  EndWords(const EndWords&) = delete;
  EndWords& operator=(const EndWords&) = delete;

  [[nodiscard]] const redis::Command& keys() const { return keys_; }
  [[nodiscard]] const redis::Command& arguments() const { return arguments_; }

 private:
  void find_kinds(const std::vector<const EndCall*>& calls) {
    kind_of_.reserve(calls.size());
    for (const EndCall* call : calls) {
      const auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                                     [&](const EndCall* each) { return same_kind(*each, *call); });
      kind_of_.push_back(static_cast<std::size_t>(kind - kinds_.begin()));
      if (kind == kinds_.end()) {
        kinds_.push_back(call);
        words_ += 8;
      }
      words_ += 6;
    }
  }

  void add_kind(const EndCall& kind) {
    names_.push_back(number(std::to_string(names_.size() + 1)));
    arguments_.insert(arguments_.end(),
                      {kind.holder, kind.effect, number(ms_text(kind.hold)), kind.again ? "1" : "0",
                       number(to_text(kind.history)), kind.kept,
                       number(std::to_string(kind.max_result)), kind.breaker});
  }

  /// Returns the limits of the breaker. A claim that is handed back has none.
  static std::string_view limits_of(const std::vector<const EndCall*>& calls) {
    for (const EndCall* call : calls)
      if (!call->breaker_limits.empty()) return call->breaker_limits;
    return {};
  }

  void add_call(const EndCall& call, std::string_view kind) {
    arguments_.insert(arguments_.end(),
                      {kind, call.run, call.id, call.result, call.event, call.more});
  }

  std::string_view number(std::string text) { return numbers_.emplace_back(std::move(text)); }

  redis::Command keys_;
  redis::Command arguments_;
  std::size_t words_ = 6;
  std::vector<const EndCall*> kinds_;    ///< first call of each kind
  std::vector<std::size_t> kind_of_;     ///< kind of each call, as an index
  std::vector<std::string> numbers_;     ///< reserved, because the arguments point to them
  std::vector<std::string_view> names_;  ///< of the kinds
};

}  // namespace

void JobEnds::send(RedisSession& session, const Keys& keys, const std::vector<const Call*>& calls,
                   Answer answer) {
  const EndWords words(keys, calls);
  session.client.run(scripts::job_settle, words.keys(), words.arguments(),
                     [count = calls.size(), on_stalled = calls.front()->on_stalled,
                      answer = std::move(answer)](const redis::Answer& got) {
                       auto trouble = trouble_of(got);
                       if (on_stalled && !trouble && got.reply[2].integer() > 0) on_stalled();
                       if (const auto refused = got.reply[1].text(); !trouble && !refused.empty())
                         trouble = refused_beside(refused, got.reply[0].integer() > 0);
                       for (std::size_t i = 0; i < count; ++i)
                         answer(i, trouble ? &*trouble : nullptr);
                     });
}

}  // namespace w8y::store::thoonk

namespace w8y::store {
template class Settlements<thoonk::JobEnds>;
}
