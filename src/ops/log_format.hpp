// How a line of the log looks: what comes from us is laid out here, time and level by spdlog.
#pragma once

#include <spdlog/formatter.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/list_config.hpp"
#include "ops/log.hpp"

namespace w8y::ops {

/// Message and fields, escaped, so that the line with time and level stays under `max_log_line`.
/// `whole_items`: what is shown of an item doesn't count for that.
std::string render_line(LogFormat format, std::string_view message, LogFields fields,
                        bool whole_items = false);
/// Whether `whole_items` makes a difference for these.
bool has_long_item(LogFields fields);

/// PIPE_BUF of Linux: a write of so much is not torn. POSIX promises 512.
inline constexpr std::size_t max_log_line = 4096;

/// `journal`: with a priority in front and without time, if the format is text.
std::unique_ptr<spdlog::formatter> make_formatter(LogFormat format, bool journal);

}  // namespace w8y::ops
