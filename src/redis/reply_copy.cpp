#include "redis/reply_copy.hpp"

namespace w8y::redis {

ReplyCopy::ReplyCopy(const Reply& reply) {
  if (reply.is_array()) {
    kind = Kind::array;
    elements.reserve(reply.size());
    for (std::size_t i = 0; i < reply.size(); ++i) elements.emplace_back(reply[i]);
    return;
  }
  if (reply.is_nil()) return;
  kind = reply.is_integer() ? Kind::integer : reply.is_error() ? Kind::error : Kind::string;
  number = reply.integer();
  text = reply.text();
}

WallTime server_time(const ReplyCopy& reply) {
  if (reply.elements.size() != 2) return WallTime{0};
  return WallTime(server_time_us(reply.elements[0].number, reply.elements[1].number) / 1000);
}

}  // namespace w8y::redis
