#include "app/mark_recorder.hpp"

#include <utility>
#include <variant>

#include "core/open_breaker.hpp"
#include "store/circular/keys.hpp"

namespace w8y::app {

using MarkKind = view::StatisticsMark::Kind;

MarkRecorder::MarkRecorder(Parts parts, const std::string& fleet)
    : parts_(std::move(parts)), marks_(parts_.member.client(), fleet) {}

void MarkRecorder::record_start(Instant started) {
  if (std::exchange(started_, true)) return;
  marks_.record_start(parts_.host, parts_.version, parts_.member.time().at(started));
}

void MarkRecorder::leave() {
  marks_.keep_version(parts_.host, parts_.version);
}

void MarkRecorder::on_event(const Event& event) {
  if (const auto* breaker = std::get_if<BreakerChanged>(&event); breaker && !breaker->ended)
    return record_breaker(std::string(breaker->of.prefix));
  const auto* reload = std::get_if<Reloaded>(&event);
  if (reload == nullptr || !reload->applied || reload->lines == nullptr || reload->lines->empty())
    return;
  const WallTime now = parts_.member.time().at(parts_.loop.now());
  marks_.record({now, MarkKind::reload, parts_.host, {}, std::string(reload->text)});
}

/// Records that the breaker opened, at the time that Redis has for it. Therefore, all hosts record
/// the same mark, and a host that starts while the breaker is open adds no other mark.
void MarkRecorder::record_breaker(const std::string& prefix) {
  const auto found = parts_.supervisor.lists().find(prefix);
  if (found == parts_.supervisor.lists().end()) return;
  const ListConfig& list = found->second->config();
  // The names of breakers are the same for all kinds of lists.
  const store::CircularKeys keys(list.key_prefix(), "lock", list.key_suffix());
  parts_.session->client.call(
      {"HMGET", keys.breaker, "since", "probe", "failed", "reason"},
      [this, alive = std::weak_ptr<bool>(alive_), prefix](const redis::Answer& answer) {
        if (alive.expired() || !answer.ok() || answer.reply.size() != 4) return;
        const auto open = read_open_breaker(answer.reply[0].text(), answer.reply[1].text(),
                                            answer.reply[2].text(), answer.reply[3].text());
        if (open) marks_.record({open->since, MarkKind::breaker, {}, prefix, open->reason});
      });
}

}  // namespace w8y::app
