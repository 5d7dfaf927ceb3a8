#include "store/schedule/status_count.hpp"

#include <algorithm>
#include <utility>

namespace w8y::store {

namespace {

std::uint64_t count_in(const redis::Reply& reply, std::size_t at) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, reply[at].integer()));
}

}  // namespace

std::size_t StatusCount::add(const redis::Reply& reply) {
  found_.bad += count_in(reply, 2);
  found_.died += count_in(reply, 3);
  cursor_ = reply[0].text();
  if (cursor_.empty()) cursor_ = "0";  // not a reply of this script
  if (cursor_ == "0") last_ = std::exchange(found_, {});
  return static_cast<std::size_t>(count_in(reply, 1));
}

StatusCounts StatusCount::counts() const {
  const StatusCounts last = last_.value_or(StatusCounts{});
  return {std::max(last.bad, found_.bad), std::max(last.died, found_.died)};
}

}  // namespace w8y::store
