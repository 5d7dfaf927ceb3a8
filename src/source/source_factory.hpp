// From a rule to the source of its kind of work, for w8yd: all that a new kind adds besides its
// folders in src/store and src/source is a line in each of these.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/idle_polls.hpp"
#include "core/list_maintenance.hpp"
#include "core/source.hpp"
#include "source/gearman/source.hpp"
#include "store/redis_session.hpp"

namespace w8y::source {

std::unique_ptr<Source> make_source(const std::shared_ptr<store::RedisSession>& session,
                                    const ListConfig& rule, IdlePolls& idle,
                                    SourceHandler& handler);

/// Of a list of Gearman. `session`: nullptr, where there is no Redis.
std::unique_ptr<Source> make_gearman(const std::shared_ptr<store::RedisSession>& session,
                                     const GearmanHost& host, SourceHandler& handler);

/// Whether this host can do this kind of work: empty, or why not.
std::string why_not(const ListConfig& rule);

/// The time, in seconds since 1970, up to which all that was due is in its queue: to be written to
/// the file.
using NoteTime = std::function<void(const std::string& file, std::int64_t time)>;
/// nullptr: this kind of work needs none.
std::unique_ptr<ListMaintenance> make_upkeep(const std::shared_ptr<store::RedisSession>& session,
                                             const ListConfigPtr& rule, IdlePolls& idle,
                                             ListMaintenanceHandler& handler, NoteTime note);

}  // namespace w8y::source
