#include "store/circular/settlements.hpp"

#include "store/settlements_impl.hpp"

namespace w8y::store {

void CircularEnds::send(RedisSession& session, const Keys& keys,
                        const std::vector<const Call*>& calls, Answer answer) {
  session.circular.locks.settle(keys, calls, std::move(answer));
}

template class Settlements<CircularEnds>;

}  // namespace w8y::store
