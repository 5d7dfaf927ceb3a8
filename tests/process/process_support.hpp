#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/fd.hpp"
#include "core/outcome.hpp"
#include "loop/loop.hpp"
#include "process/child.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

namespace w8y::test {

/// Records the output and end of a child.
struct Recorder : process::ChildHandler {
  void on_output(process::Stream stream, std::string_view bytes) override;
  void on_ended(ProcessEnd process_end) override;

  std::string out;
  std::string err;
  std::size_t bytes = 0;
  std::size_t largest_piece = 0;
  bool keep = true;  ///< false: only counts bytes
  std::optional<ProcessEnd> end;
};

struct Result {
  std::string out;
  std::string err;
  ProcessEnd end;
  [[nodiscard]] int code() const;  ///< -1 = no exit status
  [[nodiscard]] std::string reason() const { return end_text(end); }
};

/// Runs a program to its end. If the program is empty, argv[0] is used.
Result run(process::ChildOptions options);
Result run(const std::vector<std::string>& argv);
/// Returns options for `/bin/sh -c script`.
process::ChildOptions sh(const std::string& script);
process::ChildOptions command(const std::vector<std::string>& argv);

/// Returns the value of `field` in text such as /proc/self/status.
std::string field(const std::string& text, const std::string& name);

/// Returns the mask of ignored signals, as in /proc/self/status. A shell makes its background
/// children ignore SIGINT.
std::uint64_t ignored_signals();
/// Returns whether the process exists and is not a zombie.
bool alive(pid_t pid);
std::vector<std::string> lines_of(const std::string& text);
/// Returns the resident memory of this process, in bytes.
std::size_t resident();
std::size_t open_descriptors();

/// Limits this process to `spare` further descriptors while it exists.
class NoDescriptors {
 public:
  explicit NoDescriptors(std::size_t spare = 0);

 private:
  std::vector<Fd> all_;
};

inline bool is_root() {
  return geteuid() == 0;
}

}  // namespace w8y::test
