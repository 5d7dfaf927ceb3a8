// What the tests of ops share: a folder of one's own, a thread that is a client, waiting for facts.
#pragma once

#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <w8y/timers.hpp>

#include "loop/loop.hpp"

namespace w8y::ops::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "w8y-ops-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Turns the loop until `fact`, but no longer than ten seconds. False: it didn't come.
inline bool turn_until(loop::Loop& loop, const std::function<bool()>& fact,
                       Duration limit = std::chrono::seconds(10)) {
  const Instant end = loop.now() + limit;
  Timer look(loop.timers());  // a turn may make the fact true and then wait for the next event
  while (!fact() && loop.now() < end) {
    look.set(loop.now() + std::chrono::milliseconds(5), [] {});
    loop.turn(true);
  }
  return fact();
}

/// Runs something that blocks in a thread while the loop turns in this one.
inline bool beside(loop::Loop& loop, const std::function<void()>& work,
                   Duration limit = std::chrono::minutes(1)) {
  const int done = eventfd(0, EFD_CLOEXEC);
  bool finished = false;
  bool in_time = false;
  std::thread thread([&] {
    work();
    eventfd_write(done, 1);
  });
  {
    loop::Watch watch(loop, done, [&](bool, bool) {
      finished = true;
      watch.want(false, false);
    });
    watch.want(true, false);
    in_time = turn_until(
        loop, [&] { return finished; }, limit);
  }
  CHECK(in_time);
  thread.join();
  close(done);
  return in_time;
}

}  // namespace w8y::ops::test
