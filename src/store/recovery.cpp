#include "store/recovery.hpp"

#include <algorithm>
#include <utility>

#include "core/number.hpp"

namespace w8y::store {

namespace {

/// Approximate number of claims that one call examines, so that Redis is not blocked for long.
constexpr const char* notes_at_once = "256";

}  // namespace

Recovery::Recovery(RedisSession& session)
    : session_(session), alive_(std::make_shared<bool>(true)) {}

Recovery::~Recovery() {
  *alive_ = false;
}

void Recovery::look(ScriptCall call, Answer answer) {
  call_ = std::move(call);
  answer_ = std::move(answer);
  put_back_ = 0;
  next_.reset();
  step("0");
}

void Recovery::step(const std::string& cursor) {
  call_.with({cursor, notes_at_once})
      .run(session_.client, [this, alive = alive_](const redis::Answer& answer) {
        if (*alive) stepped(answer);
      });
}

void Recovery::stepped(const redis::Answer& answer) {
  if (!answer.ok()) {
    next_.reset();
    return finish();
  }
  const redis::Reply& reply = answer.reply;
  if (const std::optional<Duration> next = read_ms(reply[1].integer()))
    next_ = std::min(next_.value_or(*next), *next);
  put_back_ += static_cast<std::size_t>(reply[2].integer());
  const std::string cursor(reply[0].text());
  if (cursor != "0") return step(cursor);
  finish();
}

void Recovery::finish() {
  const Answer answer = std::exchange(answer_, {});
  answer(put_back_, next_);
}

ScriptCall undo_recorded(const ScriptCall& recover, const RedisSession& session,
                         const std::vector<RunId>& runs) {
  ScriptCall call = recover.with({"0", InDoubtClaims::most_examined});
  for (const RunId& run : runs) call.arguments.push_back(session.holder.lock(run));
  return call;
}

}  // namespace w8y::store
