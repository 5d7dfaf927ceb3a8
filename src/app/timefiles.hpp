// Timefiles: each contains the time until which all due jobs of a schedule are queued, for a
// dispatcher of Redbike.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "loop/loop.hpp"
#include "ops/log.hpp"

namespace w8y::app {

/// Writer of timefiles. Writes on a thread, as Redbike does: under a temporary name, then renamed.
/// An error is logged once, and the file is tried again.
class Timefiles {
 public:
  Timefiles(loop::Loop& loop, ops::LineLog& log) : loop_(loop), log_(log) {}
  ~Timefiles() { *alive_ = false; }
  Timefiles(const Timefiles&) = delete;
  Timefiles& operator=(const Timefiles&) = delete;

  /// Writes a time. While a write is in progress, other times of the same file are dropped.
  void record(const std::string& file, std::int64_t time);

 private:
  struct State {
    bool writing = false;
    std::string error;
  };
  void written(const std::string& file, const std::string& error);

  loop::Loop& loop_;
  ops::LineLog& log_;
  std::map<std::string, State> states_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
