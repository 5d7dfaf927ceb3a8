#include "store/thoonk/job_ends.hpp"

#include "store/run_record.hpp"
#include "store/scripts.hpp"
#include "store/settlements_impl.hpp"

namespace w8y::store::thoonk {

const redis::Script& JobEnds::script() {
  return scripts::job_settle;
}

redis::Command JobEnds::keys_of(const Keys& keys, const std::vector<const Call*>&) {
  return {keys.ids,       keys.items,    keys.claimed, keys.cancelled, keys.stalled,
          keys.published, keys.finishes, keys.taken,   keys.slots,     keys.runs};
}

redis::Command JobEnds::first_words(const Keys& keys) {
  return {keys.wake, keys.events, keys.finish_channel, keys.lease_prefix};
}

bool JobEnds::same_group(const Call& a, const Call& b) {
  return std::string_view(a.effect) == b.effect && a.hold == b.hold && a.again == b.again &&
         a.history == b.history && a.kept == b.kept && a.max_result == b.max_result &&
         a.breaker == b.breaker && a.holder == b.holder;
}

std::array<std::string_view, 8> JobEnds::group_words(const Call& call, const KeepText& keep) {
  return {call.holder,
          call.effect,
          keep(ms_text(call.hold)),
          call.again ? "1" : "0",
          keep(to_text(call.history)),
          call.kept,
          keep(std::to_string(call.max_result)),
          call.breaker};
}

std::array<std::string_view, 6> JobEnds::own_words(const Call& call, std::string_view group) {
  return {group, call.run, call.id, call.result, call.event, call.more};
}

SettleResult JobEnds::read(RedisSession&, const redis::Answer& answer, const Call& call) {
  return read_settled(answer, call);
}

}  // namespace w8y::store::thoonk

namespace w8y::store {
template class Settlements<thoonk::JobEnds>;
}
