#include "store/recovery.hpp"

#include <algorithm>
#include <utility>

#include "core/number.hpp"

namespace w8y::store {

namespace {

/// Approximate number of claims that one call examines, so that Redis is not blocked for long.
constexpr const char* notes_at_once = "256";
/// Maximum number of in-doubt claims that one search covers.
constexpr std::size_t most_searched = 1024;

}  // namespace

Recovery::Recovery(RedisSession& session)
    : session_(session), alive_(std::make_shared<bool>(true)) {}

Recovery::~Recovery() {
  *alive_ = false;
}

void Recovery::lost(const std::vector<std::string>& runs, Instant until) {
  for (const std::string& run : runs) lost_.emplace(run, until);
}

void Recovery::look(RecoverCall call, Answer answer) {
  call_.emplace(std::move(call));
  answer_ = std::move(answer);
  looking_ = true;
  put_back_ = 0;
  next_.reset();
  searched_.clear();
  for (const auto& [run, until] : lost_)
    if (searched_.size() < most_searched) searched_.push_back(run);
  step("0");
}

void Recovery::step(const std::string& cursor) {
  const redis::Command keys(call_->keys.begin(), call_->keys.end());
  redis::Command arguments(call_->arguments.begin(), call_->arguments.end());
  arguments.insert(arguments.end(), {cursor, notes_at_once});
  arguments.insert(arguments.end(), searched_.begin(), searched_.end());
  session_.client.run(call_->script, keys, arguments,
                      [this, alive = alive_](const redis::Answer& answer) {
                        if (*alive) stepped(searched_, answer);
                      });
}

void Recovery::stepped(const std::vector<std::string>& asked, const redis::Answer& answer) {
  if (!answer.ok()) {
    next_.reset();
    std::erase_if(lost_, [this](const auto& each) { return each.second < session_.clock.now(); });
    return finish();
  }
  const redis::Reply& reply = answer.reply;
  if (const std::optional<Duration> next = read_ms(reply[1].integer()))
    next_ = std::min(next_.value_or(*next), *next);
  put_back_ += static_cast<std::size_t>(reply[2].integer());
  for (std::size_t i = 3; i < reply.size(); ++i) lost_.erase(std::string(reply[i].text()));
  const std::string cursor(reply[0].text());
  if (cursor != "0") return step(cursor);
  // A claim that is not recorded was never made.
  for (const std::string& run : asked) lost_.erase(run);
  finish();
}

void Recovery::finish() {
  looking_ = false;
  const Answer answer = std::exchange(answer_, {});
  answer(put_back_, next_);
}

}  // namespace w8y::store
