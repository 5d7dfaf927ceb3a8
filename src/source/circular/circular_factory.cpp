#include "source/circular/circular_factory.hpp"

#include "source/circular/source.hpp"
#include "store/circular/redis_list.hpp"

namespace w8y::source {

std::unique_ptr<Source> make_circular(const std::shared_ptr<store::RedisSession>& session,
                                      IdlePolls& idle, SourceHandler& handler) {
  return std::make_unique<CircularSource>(
      session->clock, idle, handler, [&session](store::CircularListHandler& list) {
        return std::make_unique<store::RedisCircularList>(session, list);
      });
}

}  // namespace w8y::source
