#include "store/thoonk/keys.hpp"

namespace w8y::store {

FeedKeys::FeedKeys(const std::string& name)
    : feed(name),
      config("feed.config:" + name),
      ids("feed.ids:" + name),
      items("feed.items:" + name),
      publishes("feed.publishes:" + name),
      idincr("feed.idincr:" + name),
      published("feed.published:" + name),
      claimed("feed.claimed:" + name),
      cancelled("feed.cancelled:" + name),
      stalled("feed.stalled:" + name),
      finishes("feed.finishes:" + name),
      publish_channel("feed.publish:" + name),
      edit_channel("feed.edit:" + name),
      retract_channel("feed.retract:" + name),
      position_channel("feed.position:" + name),
      finish_channel("job.finish:" + name),
      lease_prefix("feed.lease:" + name + ":"),
      result_prefix("feed.result:" + name + ":") {
  const std::string ours = name.empty() ? "" : name + ":";
  taken = ours + "claims";
  nowhere = ours + "orphaned";
  maintained = ours + "maintained";
  keep = ours + "keep";
  request_prefix = ours + "idempotency:";
  fence = ours + "fence";
  failures = ours + "failures";
  slots = ours + "slots";
  paused = ours + "paused";
  runs = ours + "runs";
  events = ours + "events";
  wake = ours + "wake";
  breaker = ours + "breaker";
}

}  // namespace w8y::store
