// The files that tell a dispatcher of Redbike up to when all that was due is in its queue.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "loop/loop.hpp"
#include "ops/log.hpp"

namespace w8y::app {

/// Written off the loop, as Redbike does it: under a temporary name, then renamed. A file that
/// can't be written is told once, and tried again.
class Timefiles {
 public:
  Timefiles(loop::Loop& loop, ops::LineLog& log) : loop_(loop), log_(log) {}
  ~Timefiles() { *alive_ = false; }
  Timefiles(const Timefiles&) = delete;
  Timefiles& operator=(const Timefiles&) = delete;

  /// While one time is being written, others of the same file are left out.
  void note(const std::string& file, std::int64_t time);

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
