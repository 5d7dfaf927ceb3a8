// One run for one item, for the function that processes it. Part of w8y-executor/executor.hpp;
// C++17.
#pragma once

#include <unistd.h>
#include <w8y-executor/json.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

namespace w8y::kit {

/// Error of the item, with the reason: the run has failed. Any other exception has the same effect,
/// and its type and text are in the log.
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Exception that ends a cancelled run. Not a std::exception, so that handlers of std::exception
/// let it pass.
struct Cancelled {};

class Item;

namespace detail {

constexpr int gone = 128 + SIGPIPE;  // the reader has closed its end
constexpr int stopped = 128 + SIGTERM;

inline std::atomic<bool> stop_requested{false};

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

/// Maximum number of bytes of output in one message: w8yd does not read lines of any length.
constexpr std::size_t max_log_line = 8192;

/// Stream buffer that passes on each write.
class UnbufferedStream : public std::streambuf {
 protected:
  virtual void write(std::string_view text) = 0;

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    write({text, static_cast<std::size_t>(size)});
    return size;
  }
  int_type overflow(int_type value) override {
    const char one = traits_type::to_char_type(value);
    if (!traits_type::eq_int_type(value, traits_type::eof())) write({&one, 1});
    return traits_type::not_eof(value);
  }
};

class Stream;
class Single;
class LogBuffer;
using Function = std::function<Object(Item&)>;
Object outcome(const Function& function, Item& item);

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

  [[nodiscard]] bool cancelled() const { return cancelled_ || detail::stop_requested; }
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
  /// Stream whose lines go to the log, with the item as a field. For one thread at a time.
  std::ostream& log() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!log_) log_ = std::make_unique<Log>(*this);
    return log_->stream;
  }

 private:
  friend class detail::Stream;
  friend class detail::Single;
  friend class detail::LogBuffer;
  friend Object detail::outcome(const detail::Function& function, Item& item);

  /// Buffer of log().
  struct Log : detail::UnbufferedStream {
    explicit Log(Item& owner) : item(owner) {}
    void write(std::string_view text) override { item.write_log(text); }
    Item& item;
    std::ostream stream{this};
  };

  Item(detail::Output& output, bool in_stream) : in_stream_(in_stream), output_(output) {}

  [[nodiscard]] Object message(const char* type) const {
    Object object;
    object.add("type", type);
    if (in_stream_) object.add("id", id);
    return object;
  }
  void say(const Object& object) { output_.send(object.text()); }
  /// Sends each complete line as a message. Returns false if the run has ended.
  bool write_log(std::string_view text) {
    const std::lock_guard<std::mutex> lock(line_mutex_);
    if (ended_) return false;
    for (const char each : text) {
      if (each != '\n') line_ += each;
      if (each != '\n' && line_.size() < detail::max_log_line) continue;
      print(line_);
      line_.clear();
    }
    return true;
  }
  void end_line(bool of_run) {
    const std::lock_guard<std::mutex> lock(line_mutex_);
    if (!line_.empty()) print(line_);
    line_.clear();
    ended_ = of_run;
  }
  void complete(const Object& result) {
    end_line(true);
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
  std::unique_ptr<Log> log_;
  std::mutex line_mutex_;  // for the members below
  std::string line_;       // incomplete line of output
  bool ended_ = false;
};

/// Sends std::cout, std::cerr and std::clog of this thread to the log of the item, with `stream`.
/// For a thread that the function of the item starts, and that ends before the function returns.
class OutputOf {
 public:
  explicit OutputOf(Item& item) : before_(std::exchange(current(), &item)) {}
  ~OutputOf() { current() = before_; }
  OutputOf(const OutputOf&) = delete;
  OutputOf& operator=(const OutputOf&) = delete;

 private:
  friend class detail::LogBuffer;
  static Item*& current() {
    static thread_local Item* item = nullptr;
    return item;
  }

  Item* before_;
};

namespace detail {

/// Sends the output of each thread to its item, otherwise to the buffer that it replaces.
class LogBuffer : public UnbufferedStream {
 public:
  explicit LogBuffer(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(this)) {}
  ~LogBuffer() override { stream_.rdbuf(before_); }
  LogBuffer(const LogBuffer&) = delete;
  LogBuffer& operator=(const LogBuffer&) = delete;

 private:
  void write(std::string_view text) override {
    Item* const item = OutputOf::current();
    if (item == nullptr || !item->write_log(text))
      before_->sputn(text.data(), static_cast<std::streamsize>(text.size()));
  }
  int sync() override { return OutputOf::current() == nullptr ? before_->pubsync() : 0; }

  std::ostream& stream_;
  std::streambuf* before_;
};

}  // namespace detail

}  // namespace w8y::kit
