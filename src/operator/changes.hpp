// What an operator changes in Redis, for w8yctl and the status API. All throw redis::RedisError,
// and Refusal where it can't be done.
#pragma once

#include <optional>
#include <string>

#include "core/pause.hpp"
#include "core/rule.hpp"
#include "redis/sync.hpp"
#include "store/circular/item_changes.hpp"
#include "view/run_view.hpp"

namespace w8y::verbs {

/// On all hosts; with an end after `period`, which the pause knows too.
void pause_list(redis::SyncClient& client, const store::CircularKeys& keys, const Pause& pause,
                std::optional<Duration> period);
/// A JSON object: {"result": "paused", "list", "reason", "by", "since_ms", "until_ms"}
std::string pause_json(const std::string& list, const Pause& pause);
/// False: it was not paused.
bool resume_list(redis::SyncClient& client, const store::CircularKeys& keys);
/// Tells hosts that show the list that it was changed (w8y-keys(7)): one that takes nothing off it
/// would not see that soon. Without the right to, they see it a little later.
void tell_change(redis::SyncClient& client, const std::string& fleet, const std::string& list);
std::string resume_json(const std::string& list, bool was_paused);

/// What came of a change of one item, in words.
struct ChangeResult {
  const char* text;
  bool good = true;
};
ChangeResult result_of(store::QuarantinedAs how);
ChangeResult result_of(store::ReleasedAs how);

/// Keeps the item of a run that goes on from being run again, each kind of work in its way.
/// `run`: as the status API has it, with its list.
void park(redis::SyncClient& client, const view::RunView& run, SourceKind kind,
          const store::CircularKeys& keys, const store::QuarantineNote& note);

}  // namespace w8y::verbs
