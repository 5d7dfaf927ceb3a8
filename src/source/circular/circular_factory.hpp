#pragma once

#include <memory>

#include "core/idle_polls.hpp"
#include "core/source.hpp"

namespace w8y::store {
class RedisSession;
}

namespace w8y::source {

/// Makes the source of a circular list in Redis.
std::unique_ptr<Source> make_circular(const std::shared_ptr<store::RedisSession>& session,
                                      IdlePolls& idle, SourceHandler& handler);

}  // namespace w8y::source
