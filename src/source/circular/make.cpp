#include "source/circular/make.hpp"

#include "source/circular/source.hpp"
#include "store/circular/redis_list.hpp"

namespace w8y::source {

std::unique_ptr<Source> make_circular(const std::shared_ptr<store::RedisLink>& link,
                                      IdlePolls& idle, SourceHandler& handler) {
  return std::make_unique<CircularSource>(
      link->clock, idle, handler, [&link](store::CircularListHandler& list) {
        return std::make_unique<store::RedisCircularList>(link, list);
      });
}

}  // namespace w8y::source
