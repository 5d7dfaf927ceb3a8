// Makes the source of a list by its kind of work, for w8yd. A new kind adds one line to each of
// these functions, besides its directories in src/store and src/source.
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

/// Makes the source of a Gearman list. `session`: nullptr if there is no Redis.
std::unique_ptr<Source> make_gearman(const std::shared_ptr<store::RedisSession>& session,
                                     const GearmanHost& host, SourceHandler& handler);

/// Returns why this host cannot serve this kind of work; empty = it can.
std::string why_not(const ListConfig& rule);

/// Called with the time (seconds since 1970) up to which all due jobs are in their queues, to write
/// it to the file.
using NoteTime = std::function<void(const std::string& file, std::int64_t time)>;
/// Makes the maintenance of a list; nullptr if its kind of work needs none.
std::unique_ptr<ListMaintenance> make_upkeep(const std::shared_ptr<store::RedisSession>& session,
                                             const ListConfigPtr& rule, IdlePolls& idle,
                                             ListMaintenanceHandler& handler, NoteTime note);

}  // namespace w8y::source
