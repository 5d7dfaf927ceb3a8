// Executors for w8yd in C++: a function of one item. w8y-executor(7) describes the protocol.
//
//   #include <w8y-executor/executor.hpp>
//
//   int main(int argc, char** argv) {
//     w8y::kit::Options options;
//     options.concurrency = 4;
//     return w8y::kit::serve(argc, argv, options, [](w8y::kit::Item& item) {
//       return w8y::kit::Object().add("length", item.bytes.size());
//     });
//   }
//
// serve() replies to --caps, runs one item (`single`), or runs many items in one process, each in
// its own thread (`stream`). It needs only C++17 and POSIX: c++ -std=c++17 -pthread.
//
// While serve() runs, writes to standard output go to standard error, for std::cout, C libraries
// and child processes. Standard input is empty. The protocol uses private descriptors.
//
// With `stream`, std::cout, std::cerr and std::clog belong to the item of the thread that writes. A
// thread that the function starts has no item, unless it creates an OutputOf. Output without an
// item, of C libraries and of child processes goes to standard error.
#pragma once

#include <cxxabi.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <w8y-executor/item.hpp>
#include <w8y-executor/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace w8y::kit {

struct Options {
  std::vector<std::string> caps;  ///< further capabilities, for `requires`
  unsigned concurrency = 1;       ///< items at once in one process, each in its own thread
  std::string version;            ///< shown to operators
};

namespace detail {

/// Logs the type and the text of an exception, and of the exceptions that are nested in it.
inline void log_exception(const std::exception& error) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> type(
      abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status), &std::free);
  std::cerr << (type ? type.get() : typeid(error).name()) << ": " << error.what() << std::endl;
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& cause) {
    std::cerr << "caused by ";
    log_exception(cause);
  } catch (...) {
    std::cerr << "caused by an exception of an unknown type" << std::endl;
  }
}

/// Runs `function` on `item`. Cancelled is passed on. Any other exception is the error of the run.
inline Object outcome(const Function& function, Item& item) {
  try {
    return function(item);
  } catch (const Cancelled&) {
    throw;
  } catch (const Failed& error) {
    return Object().add("error", error.what());
  } catch (const std::exception& error) {
    item.end_line(false);
    log_exception(error);
    return Object().add("error", error.what());
  } catch (...) {
    return Object().add("error", "an exception of an unknown type");
  }
}

inline std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

inline int wake = -1;  // descriptor to which the handler of SIGTERM writes

inline void watch_sigterm(int flags) {
  struct sigaction action {};
  action.sa_handler = [](int) {
    const int before = errno;
    stop_requested = true;
    if (wake >= 0 && ::write(wake, "", 1) < 0) errno = 0;
    errno = before;
  };
  action.sa_flags = flags;
  ::sigaction(SIGTERM, &action, nullptr);
}

// ---- single

class Single {
 public:
  Single(const Function& function, int source, int output)
      : function_(function), source_(source), output_(output), item_(output_, false) {}

  int run(const char* name, const char* id, std::uint64_t length) {
    // Without SA_RESTART, so that a blocking call is interrupted.
    watch_sigterm(0);
    item_.name = name;
    item_.id = id;
    item_.fence = variable("W8Y_FENCE", 0);
    item_.attempt = variable("W8Y_ATTEMPT", 1);
    if (!read(length)) {
      if (stop_requested) return stopped;
      item_.fail("got " + std::to_string(item_.bytes.size()) + " bytes of " +
                 std::to_string(length));
      return 0;
    }
    try {
      item_.complete(outcome(function_, item_));
    } catch (const Cancelled&) {
      return stopped;
    }
    return 0;
  }

 private:
  static std::uint64_t variable(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : number(text).value_or(otherwise);
  }
  /// In parts: the length is announced, but the bytes may not arrive.
  bool read(std::uint64_t length) {
    std::vector<char> part(65536);
    while (item_.bytes.size() < length && !stop_requested) {
      const auto wanted = std::min<std::uint64_t>(part.size(), length - item_.bytes.size());
      const ssize_t got = ::read(source_, part.data(), static_cast<std::size_t>(wanted));
      if (got == 0 || (got < 0 && errno != EINTR)) break;
      if (got > 0) item_.bytes.append(part.data(), static_cast<std::size_t>(got));
    }
    return item_.bytes.size() == length;
  }

  const Function& function_;
  int source_;
  Output output_;
  Item item_;
};

// ---- stream

/// Server of `stream`. The thread of run() reads lines; workers take items from a queue. A pipe
/// wakes the reader when an item is done, and for SIGTERM.
class Stream {
 public:
  Stream(const Function& function, int source, int output, std::string name, unsigned concurrency)
      : function_(function),
        source_(source),
        output_(output),
        name_(std::move(name)),
        concurrency_(concurrency) {}

  int run() {
    const LogBuffer routed[] = {LogBuffer(std::cout), LogBuffer(std::cerr), LogBuffer(std::clog)};
    if (::pipe(pipe_.data()) != 0) return 1;
    for (const int end : pipe_) {
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
      ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
    wake = pipe_[1];
    watch_sigterm(SA_RESTART);
    bool reading = true;
    while (reading || !all_done()) {
      std::array<pollfd, 2> both{{{pipe_[0], POLLIN, 0}, {source_, POLLIN, 0}}};
      ::poll(both.data(), reading ? 2 : 1, -1);
      std::array<char, 512> ignored;
      while (::read(pipe_[0], ignored.data(), ignored.size()) > 0) continue;
      if (stop_requested) reading = false;
      if (reading && both[1].revents != 0) reading = read_input();
    }
    end_workers();
    return stop_requested ? stopped : 0;
  }

 private:
  using ItemPtr = std::shared_ptr<Item>;

  bool all_done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return open_.empty();
  }

  /// Reads and handles some lines. False at end of file.
  bool read_input() {
    std::vector<char> part(65536);
    const ssize_t got = ::read(source_, part.data(), part.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    std::string_view rest(part.data(), static_cast<std::size_t>(got));
    for (auto end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
      line_.append(rest.substr(0, end));
      rest.remove_prefix(end + 1);
      if (line_.find_first_not_of(" \t\r") != line_.npos) take(line_);
      line_.clear();
    }
    line_.append(rest);
    return got > 0;
  }

  void take(const std::string& line) {
    auto members = json::Reader(line).object();
    if (!members) {
      std::cerr << "w8y-executor: not a message: " << json::quoted(line.substr(0, 80)) << std::endl;
      return;
    }
    const json::Value type = (*members)["type"];
    const json::Value id = (*members)["id"];
    if (!id.is_string) return;  // from a newer w8yd
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = open_.find(id.text);
    if (type.text == "cancel" && found != open_.end()) found->second->cancelled_ = true;
    if (type.text == "item" && found == open_.end()) begin(id.text, *members);
  }

  void begin(const std::string& id, json::Members& members) {
    const ItemPtr item(new Item(output_, true));
    item->id = id;
    item->name = members["name"].is_string ? members["name"].text : name_;
    item->fence = number(members["fence"].text).value_or(0);
    item->attempt = number(members["attempt"].text).value_or(1);
    auto bytes = bytes_of(members, "item");
    item->payload = bytes_of(members, "payload");
    if (!bytes || (!item->payload && members.count("payload_base64") != 0))
      return item->fail("the item cannot be read: it has none, or no right base64");
    item->bytes = std::move(*bytes);
    open_[id] = item;
    to_do_.push_back(item);
    if (workers_.size() < std::min<std::size_t>(open_.size(), concurrency_)) add_worker();
    changed_.notify_one();
  }

  void add_worker() {
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (workers_.empty()) throw;  // otherwise the existing workers run all items
    }
  }

  /// Bytes of a member: a string if they are UTF-8, else base64.
  static std::optional<std::string> bytes_of(json::Members& members, const std::string& key) {
    if (const auto found = members.find(key); found != members.end() && found->second.is_string)
      return std::move(found->second.text);
    const auto found = members.find(key + "_base64");
    if (found == members.end() || !found->second.is_string) return std::nullopt;
    return json::from_base64(found->second.text);
  }

  void work() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !to_do_.empty(); });
      if (to_do_.empty()) return;
      const ItemPtr item = std::move(to_do_.front());
      to_do_.pop_front();
      lock.unlock();
      try {
        const OutputOf routed(*item);
        item->check();
        item->complete(outcome(function_, *item));
      } catch (const Cancelled&) {
        item->fail("cancelled");
      }
      lock.lock();
      open_.erase(item->id);
      // If the pipe is full, the reader wakes up nevertheless.
      if (::write(pipe_[1], "", 1) < 0) continue;
    }
  }

  void end_workers() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  const Function& function_;
  int source_;
  Output output_;
  std::string name_;
  unsigned concurrency_;
  std::array<int, 2> pipe_{-1, -1};
  std::string line_;  // the part of it received so far
  std::vector<std::thread> workers_;

  std::mutex mutex_;  // for all members below
  std::condition_variable changed_;
  std::map<std::string, ItemPtr> open_;
  std::deque<ItemPtr> to_do_;
  bool ending_ = false;
};

// ---- the command line

/// Moves the streams of the protocol to private descriptors, which no child process inherits.
inline bool claim_streams(int& source, int& output) {
  source = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return source >= 0 && output >= 0 && ::dup2(nothing, STDIN_FILENO) == STDIN_FILENO &&
         ::dup2(STDERR_FILENO, STDOUT_FILENO) == STDOUT_FILENO && ::close(nothing) == 0;
}

inline void print_caps(const Options& options) {
  std::vector<std::string> caps{"single", "stream"};
  caps.insert(caps.end(), options.caps.begin(), options.caps.end());
  Object answer;
  answer.add("type", "caps").add("caps", caps).add("concurrency", options.concurrency);
  if (!options.version.empty()) answer.add("version", options.version);
  Output(STDOUT_FILENO).send(answer.text());
}

inline int serve(int argc, char** argv, const Options& options, const Function& function) {
  const auto last = [argc, argv](int i) { return i < argc ? argv[argc - i] : nullptr; };
  if (argc > 1 && std::strcmp(last(1), "--caps") == 0) return print_caps(options), 0;
  const bool stream = argc > 2 && std::strcmp(last(2), "--stream") == 0;
  const auto length = argc > 3 ? number(last(1)) : std::nullopt;
  if (!stream && !length) {
    std::cerr << "usage: EXECUTOR [args] --caps | --stream NAME | NAME ID LENGTH\n";
    return 2;
  }
  int source = -1;
  int output = -1;
  if (!claim_streams(source, output)) return gone;
  if (stream) return Stream(function, source, output, last(1), options.concurrency).run();
  return Single(function, source, output).run(last(3), last(2), *length);
}

}  // namespace detail

/// Executes the request of w8yd and returns the exit status for main(). `work` takes an Item& and
/// returns an Object, which is the result of the run, or nothing. It may throw.
template <typename Work>
int serve(int argc, char** argv, const Options& options, Work work) {
  if constexpr (std::is_void_v<std::invoke_result_t<Work&, Item&>>) {
    return detail::serve(argc, argv, options, [&work](Item& item) { return work(item), Object(); });
  } else {
    return detail::serve(argc, argv, options, std::ref(work));
  }
}

}  // namespace w8y::kit
