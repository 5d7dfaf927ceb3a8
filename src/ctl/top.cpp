// Monitors the fleet in the terminal, with rates and runs of this host.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "api/endpoints.hpp"
#include "core/fd.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/text.hpp"
#include "ctl/top_screen.hpp"
#include "ctl/top_snapshot.hpp"
#include "ctl/top_view.hpp"
#include "ctl/values.hpp"

namespace w8y::ctl {

namespace {

constexpr Duration usual_pause = std::chrono::seconds(1);
constexpr Duration min_pause = std::chrono::milliseconds(100);
constexpr Duration answer_timeout = std::chrono::seconds(5);
/// Pause between requests, as a multiple of the last response time, since 10,000 lists take w8yd
/// long.
constexpr int rest_of_answer = 10;

Instant monotonic_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant(std::chrono::duration_cast<Duration>(since));
}

/// Sends requests on a thread of its own, so that keys are handled at once.
class Asking {
 public:
  struct Answer {
    std::optional<view::JsonFields> status;
    std::string error;  ///< why there is no status
    Instant at{};
  };

  Asking(HostApi& host, Duration pause)
      : host_(host), pause_(pause), ready_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Asking() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  /// Readable when there is a response.
  [[nodiscard]] int descriptor() const { return ready_.get(); }
  std::optional<Answer> handle() {
    eventfd_t count = 0;
    eventfd_read(ready_.get(), &count);
    const std::lock_guard lock(mutex_);
    return std::exchange(reply_, std::nullopt);
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    Duration pause = pause_;
    while (!wake_.wait_for(lock, pause, [this] { return stop_; })) {
      lock.unlock();
      const Instant asked = monotonic_now();
      Answer answer;
      try {
        answer.status = host_.request(api::endpoints::status.target(), answer_timeout);
      } catch (const Failure& failure) {
        answer.error = failure.what();
      }
      answer.at = monotonic_now();
      pause = std::max(pause_, (answer.at - asked) * rest_of_answer);
      lock.lock();
      reply_ = std::move(answer);
      eventfd_write(ready_.get(), 1);
    }
  }

  HostApi& host_;
  const Duration pause_;
  const Fd ready_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::optional<Answer> reply_;
  std::thread thread_;
};

class Top final : public Command {
 public:
  void declare(Arguments& words) override {
    words.option("--interval", "INTERVAL", "a duration, such as 5s",
                 "Refresh each INTERVAL (default: 1s)",
                 [this](Argument&& word) { pause_ = duration_of("--interval", word.text); });
  }

  int run(const Options& options, Context& context) override {
    if (options.json)
      throw Failure(wrong_usage, "top has no JSON output; use `w8yctl --json status`");
    if (pause_ < min_pause) throw Failure(wrong_usage, "--interval needs at least 100ms");
    HostApi& host = context.host();
    view_.set(reader_.read(host.request(api::endpoints::status.target()), monotonic_now()));
    TopScreen screen;
    Asking asking(host, pause_);
    while (follow(screen, asking)) {
    }
    return done;
  }

 private:
  /// Handles input and responses. False: the user quits.
  bool follow(TopScreen& screen, Asking& asking) {
    screen.show(view_.lines(screen.width(), screen.height()));
    pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {asking.descriptor(), POLLIN, 0}};
    poll(fds, 2, -1);  // interrupted when the terminal is resized
    if ((fds[0].revents & (POLLHUP | POLLERR)) != 0) return false;  // the terminal is closed
    if (fds[1].revents != 0) on_input(asking);
    TopKey key;
    for (;;) {
      const TopScreen::Input input = screen.read(key);
      if (input == TopScreen::Input::none) return true;
      if (input == TopScreen::Input::key && !view_.press(key)) return false;
    }
  }

  void on_input(Asking& asking) {
    const auto answer = asking.handle();
    if (!answer) return;
    if (!answer->status) {
      if (lost_.count() == 0) lost_ = wall_now();
      view_.set_error("not connected since " + time_text(lost_) + ": " + answer->error);
      return;
    }
    lost_ = WallTime(0);
    view_.set_error({});
    TopSnapshot stats = reader_.read(*answer->status, answer->at);
    if (!view_.frozen()) view_.set(std::move(stats));
  }

  Duration pause_ = usual_pause;
  TopReader reader_;
  TopView view_;
  WallTime lost_{0};
};

}  // namespace

const CommandMaker make_top = new_command<Top>;

}  // namespace w8y::ctl
