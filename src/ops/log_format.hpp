// Layout of a log line: message and fields here, time and level by spdlog.
#pragma once

#include <spdlog/common.h>
#include <spdlog/formatter.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/list_config.hpp"
#include "ops/log.hpp"

namespace w8y::ops {

/// Renders message and fields, escaped, so that the line with time and level stays under
/// `max_log_line`. With `whole_items`, items do not count for that limit.
std::string render_line(LogFormat format, std::string_view message, LogFields fields,
                        bool whole_items = false);
/// Whether `whole_items` makes a difference for these fields.
bool has_long_item(LogFields fields);

/// Returns the priority of a level for the journal (sd-daemon(3)).
int journal_priority(spdlog::level::level_enum level);

/// PIPE_BUF of Linux: a write of at most this size is atomic. POSIX guarantees 512.
inline constexpr std::size_t max_log_line = 4096;

/// Creates the formatter of spdlog. With `journal`, text lines start with a priority and have no
/// time.
std::unique_ptr<spdlog::formatter> make_formatter(LogFormat format, bool journal);

}  // namespace w8y::ops
