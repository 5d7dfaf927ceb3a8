// Schedules and feeds, as the status API shows them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/look/job_states.hpp"
#include "app/look/run_looks.hpp"
#include "app/look/sight.hpp"

namespace w8y::app::look {

/// {"schedules": […], "next"}: of each schedule of the config what stands in its queues and on its
/// timeline, by name.
ops::Json schedules_json(Sight& sight, const Part& part);
/// {"schedule": …, "jobs": […], "next"}: one of them, and its jobs with their rules and next times.
/// `state`: only these jobs; empty: all.
ops::Json schedule_json(Sight& sight, const std::string& list, const std::string& state,
                        const Part& part);
/// {"feeds": […], "next"}: of each feed of jobs of the config how many there are, by name.
ops::Json feeds_json(Sight& sight, const Part& part);

/// Jobs that are worked on, then those in queues, on the timeline, and the rest, each once: what
/// `show` has of each, under `items`, and `next`.
void walk_schedule(ops::Json& json, const char* items, Sight& sight, const std::string& list,
                   const Part& part,
                   const std::function<std::optional<ops::Json>(const JobState&)>& show);
/// With their rules, those in words, and the next times.
std::vector<ops::Json> with_rules(Sight& sight, const std::string& list,
                                  const std::vector<JobState>& jobs);

}  // namespace w8y::app::look
