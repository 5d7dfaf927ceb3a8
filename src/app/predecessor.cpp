#include "app/predecessor.hpp"

#include <signal.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <w8y/escape.hpp>
#include <w8y/status.hpp>
#include <w8y/units.hpp>

#include "ops/http_client.hpp"
#include "ops/status_json.hpp"
#include "ops/unix_listener.hpp"

namespace w8y::app {

namespace {

constexpr Duration look_pause = std::chrono::milliseconds(50);
constexpr Duration answer_timeout = std::chrono::seconds(2);

bool is_draining(const std::string& path) {
  ops::HttpClient client(path);
  const ops::HttpResult answer = client.get("/api/v1/status", answer_timeout);
  const auto status = answer.status == 200 ? ops::parse(answer.body) : std::nullopt;
  return status && status->is_object() &&
         status->value("state", std::string()) == state_name(HostState::draining);
}

/// nullopt: nobody, or what is wrong there is for whoever listens to say.
std::optional<ops::SocketHolder> holder_of(const std::string& path) {
  try {
    return ops::who_listens(path);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

/// Orders that are for a w8yd at work don't end one that waits.
void pass_over_orders() {
  for (const int number : {SIGUSR1, SIGUSR2, SIGHUP}) signal(number, SIG_IGN);
}

}  // namespace

void wait_for_predecessor(const SupervisorSettings& supervisor) {
  using Steady = std::chrono::steady_clock;
  const auto until = Steady::now() + supervisor.drain_timeout;
  bool told = false;
  for (const std::string& address : supervisor.status) {
    const std::string path = address.substr(std::string("unix:").size());
    while (const auto holder = holder_of(path)) {
      if (!is_draining(path)) {
        if (!holder_of(path)) break;  // it has just ended
        throw ops::SocketInUse(path, *holder);
      }
      if (Steady::now() >= until)
        throw std::runtime_error("the status socket is in use by " + holder->to_string() +
                                 ", which was draining for longer than drain_timeout (" +
                                 format_duration(supervisor.drain_timeout) + "): " + path);
      if (!told) {
        pass_over_orders();
        std::cerr << "w8yd: waits for " << escape(holder->to_string())
                  << ", which is draining, for up to " << format_duration(supervisor.drain_timeout)
                  << std::endl;
        told = true;
      }
      std::this_thread::sleep_for(look_pause);
    }
  }
}

}  // namespace w8y::app
