// Blocks signals of a thread temporarily.
#pragma once

#include <signal.h>

#include <initializer_list>

namespace w8y::process {

/// Blocks signals in this thread while it exists. Threads that are created meanwhile inherit the
/// block.
class SignalsBlocked {
 public:
  /// Blocks all signals.
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  explicit SignalsBlocked(std::initializer_list<int> numbers) {
    sigset_t some;
    sigemptyset(&some);
    for (const int number : numbers) sigaddset(&some, number);
    pthread_sigmask(SIG_BLOCK, &some, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace w8y::process
