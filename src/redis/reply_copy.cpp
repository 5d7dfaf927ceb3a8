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

}  // namespace w8y::redis
