// One run for one item, for the function that processes it. Part of w8y-executor/executor.hpp;
// C++17.
#pragma once

#include <unistd.h>
#include <w8y-executor/json.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace w8y::kit {

/// Error of the item, with the reason: the run has failed. Any other exception has the same effect.
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Exception that ends a cancelled run. Not a std::exception, so that handlers of std::exception
/// let it pass.
struct Cancelled {};

namespace detail {

constexpr int gone = 128 + SIGPIPE;  // the reader has closed its end
constexpr int stopped = 128 + SIGTERM;

inline std::atomic<bool> told_to_end{false};

/// Writer of lines of JSON, each as a whole and at once: a line in a buffer shows no progress.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}
  void send(std::string line) {
    line += '\n';
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t sent = 0; sent < line.size();) {
      const ssize_t count = ::write(fd_, line.data() + sent, line.size() - sent);
      if (count >= 0) {
        sent += static_cast<std::size_t>(count);
      } else if (errno != EINTR) {
        ::_exit(gone);  // also from a thread, regardless of the others
      }
    }
  }

 private:
  std::mutex mutex_;
  int fd_;
};

class Stream;
class Single;

}  // namespace detail

/// One run for one item, with its messages. Usable from any thread.
class Item {
 public:
  std::string name;                    ///< name of the list
  std::string id;                      ///< new for each run
  std::string bytes;                   ///< the item
  std::optional<std::string> payload;  ///< of a job
  std::uint64_t fence = 0;             ///< only grows: pass it to systems that you write to
  std::uint64_t attempt = 1;           ///< consecutive failures, plus 1

  /// The item as text. Throws Failed if it is not UTF-8.
  [[nodiscard]] const std::string& text() const {
    if (!json::is_utf8(bytes)) throw Failed("the item is not UTF-8");
    return bytes;
  }

  [[nodiscard]] bool cancelled() const { return cancelled_ || detail::told_to_end; }
  /// Throws Cancelled if the run was cancelled.
  void check() const {
    if (cancelled()) throw Cancelled{};
  }

  /// Reports progress, at most four times per second: call it at any rate. Includes check().
  void progress(double numerator, double denominator) {
    check();
    using Clock = std::chrono::steady_clock;
    const auto now = Clock::now();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (last_progress_ && now - *last_progress_ < std::chrono::milliseconds(250)) return;
      last_progress_ = now;
    }
    say(message("progress").add("numerator", numerator).add("denominator", denominator));
  }
  /// Publishes an update for subscribers of the events of the list. Accepts any type that
  /// Object::add() accepts.
  template <typename T>
  void update(const T& data) {
    say(message("update").add("data", data));
  }
  /// Writes a line to the log, with the item as a field.
  void print(std::string_view text) { say(message("print").add("content", text)); }

 private:
  friend class detail::Stream;
  friend class detail::Single;

  Item(detail::Output& output, bool in_stream) : in_stream_(in_stream), output_(output) {}

  [[nodiscard]] Object message(const char* type) const {
    Object object;
    object.add("type", type);
    if (in_stream_) object.add("id", id);
    return object;
  }
  void say(const Object& object) { output_.send(object.text()); }
  void complete(const Object& result) {
    Object last = message("complete");
    // A second type or id would be an error.
    if (const auto members = json::Reader(result.text()).object()) {
      for (const auto& [key, value] : *members) {
        if (key == "type" || key == "id") continue;
        last.members_ += ',' + json::quoted(key) + ':' +
                         (value.is_string ? json::quoted(value.text) : value.text);
      }
    } else {
      last.add("error", "the result is nested too deeply");
    }
    say(last);
  }
  void fail(std::string_view why) { complete(Object().add("error", why)); }

  bool in_stream_;
  detail::Output& output_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> last_progress_;
};

}  // namespace w8y::kit
