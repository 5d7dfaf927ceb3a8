#include "app/signals.hpp"

#include <signal.h>

#include <utility>

namespace w8y::app {

void Signals::start(const Config&) {
  signal(SIGPIPE, SIG_IGN);
  on(SIGUSR2, [this] { control_.reload({}); });
  on(SIGTERM, [this] { drain_.order("SIGTERM"); });
  on(SIGINT, [this] { drain_.order("SIGINT"); });
  on(SIGUSR1, [this] { control_.quiet(); });
  on(SIGCONT, [this] { control_.resume(); });
  on(SIGHUP, [this] { log_.reopen(); });
}

void Signals::on(int signal, std::function<void()> act) {
  watches_.push_back(
      std::make_unique<loop::SignalWatch>(loop_, signal, [act = std::move(act)](int) { act(); }));
  // w8yd blocks the signal while it starts, and the parent of w8yd may have blocked it.
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

}  // namespace w8y::app
