#include "process/pipes.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "loop/loop.hpp"

namespace w8y::process {

namespace {

constexpr std::size_t bytes_per_turn = std::size_t{64} << 10;
constexpr std::size_t first_turn = std::size_t{16} << 10;  // before its lines are known
constexpr std::size_t min_per_turn = std::size_t{1} << 10;
constexpr Duration time_per_turn = std::chrono::milliseconds(1);
/// Fixed cost of a read, so that many small reads are not cheaper than few large ones.
constexpr Duration cost_of_turn = std::chrono::microseconds(10);

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Ends {
  Fd read;
  Fd write;
};

Ends make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("cannot create a pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

/// Makes this process's end non-blocking. Programs expect their own ends to block.
void make_non_blocking(const Fd& fd) {
  if (fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0) fail("cannot set up a pipe");
}

/// Returns the bytes in a pipe.
std::size_t readable(const Fd& pipe) {
  int count = 0;
  return ioctl(pipe.get(), FIONREAD, &count) == 0 ? static_cast<std::size_t>(count) : 0;
}

/// Number of paused pipes of this thread's loop.
int& paused_pipes() {
  thread_local int count = 0;
  return count;
}

}  // namespace

int null_device() {
  static const Fd device = [] {
    Fd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!fd) fail("cannot open /dev/null");
    return fd;
  }();
  return device.get();
}

Fd InputPipe::open() {
  Ends ends = make_pipe();
  fd_ = std::move(ends.write);
  make_non_blocking(fd_);
  write_on();
  return std::move(ends.read);
}

void InputPipe::write_on() {
  bool reader_gone = false;
  while (written_ < bytes_.size()) {
    const ssize_t count = write(fd_.get(), bytes_.data() + written_, bytes_.size() - written_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      if (!watch_) watch_.emplace(loop_, fd_.get(), [this](bool, bool) { on_writable(); });
      watch_->want(false, true);
      return;
    }
    reader_gone = count < 0;  // EPIPE: the reader has closed its end
    if (reader_gone) break;
    written_ += static_cast<std::size_t>(count);
  }
  if (!keep_open_ || reader_gone) return close();
  bytes_.clear();
  written_ = 0;
  if (watch_) watch_->want(false, false);
}

void InputPipe::on_writable() {
  write_on();
  if (on_taken_ && waiting() == 0) on_taken_();
}

void InputPipe::add(std::string_view bytes) {
  if (!fd_) {
    unread_ += bytes.size();
    return;
  }
  const bool first = waiting() == 0;
  if (written_ > 0 && written_ >= bytes_.size() / 2) {
    bytes_.erase(0, written_);  // so that each byte is moved at most once
    written_ = 0;
  }
  bytes_ += bytes;
  if (first) write_on();
}

void InputPipe::finish() {
  keep_open_ = false;
  if (fd_ && waiting() == 0) close();
}

std::size_t InputPipe::unread() const {
  if (!fd_) return unread_;
  return waiting() + readable(fd_);
}

void InputPipe::close() {
  unread_ = unread();
  std::string().swap(bytes_);
  written_ = 0;
  watch_.reset();
  fd_.reset();
}

OutputPipe::OutputPipe(loop::Loop& loop, OnBytes on_bytes, OnClosed on_closed)
    : loop_(loop),
      on_bytes_(std::move(on_bytes)),
      on_closed_(std::move(on_closed)),
      budget_(first_turn),
      pause_(loop.timers()) {}

Fd OutputPipe::open() {
  Ends ends = make_pipe();
  fd_ = std::move(ends.read);
  make_non_blocking(fd_);
  watch_.emplace(loop_, fd_.get(), [this](bool, bool) { read_on(); });
  watch_->want(true, false);
  return std::move(ends.write);
}

void OutputPipe::close() {
  resume();
  watch_.reset();
  fd_.reset();
}

void OutputPipe::read_on() {
  thread_local std::array<char, bytes_per_turn> buffer;
  const Instant began = loop_.now();
  ssize_t count = 0;
  do count = read(fd_.get(), buffer.data(), budget_);
  while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) return;
  if (count > 0) {
    on_bytes_({buffer.data(), static_cast<std::size_t>(count)});
    if (fd_) charge(began, static_cast<std::size_t>(count));  // otherwise the handler has closed it
    return;
  }
  close();
  on_closed_();
}

void OutputPipe::charge(Instant began, std::size_t bytes) {
  const Instant now = loop_.now();
  const Duration took = now - began;
  const Duration excused = std::exchange(excused_, Duration{0});
  if (took > time_per_turn) {
    const auto fits = budget_ * static_cast<std::size_t>(time_per_turn.count()) /
                      static_cast<std::size_t>(took.count());
    budget_ = std::max(fits, min_per_turn);
  } else {
    budget_ = std::min(budget_ * 2, bytes_per_turn);
  }
  if (unpaced_ > 0) {
    unpaced_ -= std::min(unpaced_, bytes);
    return;
  }
  used_ -= std::min(used_, (began - counted_) / share_of_one);
  used_ += std::max(took + cost_of_turn - excused, Duration{0});
  counted_ = now;
  if (used_ > burst) pause(used_ - burst);
}

/// Pauses until its share covers `time`. All paused pipes divide their common share.
void OutputPipe::pause(Duration time) {
  ++paused_pipes();
  watch_->want(false, false);
  const int others = share_of_all * paused_pipes();
  pause_.set(loop_.now() + time * std::max(share_of_one, others), [this] {
    --paused_pipes();
    used_ = burst;
    counted_ = loop_.now();
    watch_->want(true, false);
  });
}

void OutputPipe::resume() {
  if (!pause_.pending()) return;
  pause_.cancel();
  --paused_pipes();
  watch_->want(true, false);
}

void OutputPipe::hurry() {
  if (!fd_) return;
  resume();
  unpaced_ = readable(fd_);
}

}  // namespace w8y::process
