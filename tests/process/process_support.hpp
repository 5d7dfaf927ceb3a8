#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/outcome.hpp"
#include "loop/loop.hpp"
#include "process/child.hpp"
#include "process/fd.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

namespace w8y::test {

/// A child with everything that it tells.
struct Recorder : process::ChildHandler {
  void on_output(process::Stream stream, std::string_view bytes) override;
  void on_ended(ProcessEnd process_end) override;

  std::string out;
  std::string err;
  std::size_t bytes = 0;
  std::size_t largest_piece = 0;
  bool keep = true;  ///< false: only counts
  std::optional<ProcessEnd> end;
};

struct Result {
  std::string out;
  std::string err;
  ProcessEnd end;
  [[nodiscard]] int code() const;  ///< -1: didn't exit
  [[nodiscard]] std::string reason() const { return end_text(end); }
};

/// Runs to the end; an empty program is argv[0].
Result run(process::ChildOptions options);
Result run(const std::vector<std::string>& argv);
/// For `/bin/sh -c script`.
process::ChildOptions sh(const std::string& script);
process::ChildOptions command(const std::vector<std::string>& argv);

/// The value of `field` in a text like /proc/self/status.
std::string field(const std::string& text, const std::string& name);

/// The signals that we ignore, a bit each, as in /proc/self/status: a shell has its children in the
/// background ignore SIGINT.
std::uint64_t ignored_signals();
/// Whether the process is there and not a zombie.
bool alive(pid_t pid);
std::vector<std::string> lines_of(const std::string& text);
/// Resident memory of this process, in bytes.
std::size_t resident();
std::size_t open_descriptors();

/// While it lives, this process can open no more than `spare` descriptors.
class NoDescriptors {
 public:
  explicit NoDescriptors(std::size_t spare = 0);

 private:
  std::vector<process::Fd> all_;
};

inline bool is_root() {
  return geteuid() == 0;
}

}  // namespace w8y::test
