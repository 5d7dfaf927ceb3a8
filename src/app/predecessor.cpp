#include "app/predecessor.hpp"

#include <signal.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "api/endpoints.hpp"
#include "core/escape.hpp"
#include "core/number.hpp"
#include "core/status.hpp"
#include "core/status_address.hpp"
#include "core/units.hpp"
#include "http/client.hpp"
#include "http/tcp_listener.hpp"
#include "http/unix_listener.hpp"
#include "view/json_fields.hpp"

namespace w8y::app {

namespace {

constexpr Duration check_pause = std::chrono::milliseconds(50);
constexpr Duration answer_timeout = std::chrono::seconds(2);

struct Predecessor {
  http::SocketHolder holder;
  bool draining = false;
};

std::optional<view::JsonFields> query_predecessor(const StatusAddress& address) {
  http::HttpClient client(address);
  const http::HttpResult answer =
      client.get(api::endpoints::status_of_host().text(), answer_timeout);
  return answer.status == 200 ? view::JsonFields::parse(answer.body) : std::nullopt;
}

/// Returns the holder of an address. nullopt: there is none, or an error that listening there will
/// report.
std::optional<http::SocketHolder> holder_of(const StatusAddress& address) {
  try {
    if (address.is_unix()) return http::who_listens(address.path);
    http::TcpListener free(address);
    return std::nullopt;
  } catch (const http::SocketInUse&) {
    return http::SocketHolder{};
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

/// Returns the w8yd that uses the address; nullopt: the address is free. The holder of a port is
/// known only from its response.
std::optional<Predecessor> predecessor_at(const StatusAddress& address) {
  const auto holder = holder_of(address);
  if (!holder) return std::nullopt;
  Predecessor found{*holder};
  const auto status = query_predecessor(address);
  if (!status) return holder_of(address) ? std::optional(found) : std::nullopt;
  found.draining = status->text("state") == state_name(HostState::draining);
  const auto number = status->integer("pid", {1, range_of<pid_t>.max});
  if (!address.is_unix() && status->has("host_id") && number)
    found.holder = {static_cast<pid_t>(*number), "w8yd"};
  return found;
}

}  // namespace

void wait_for_predecessor(const SupervisorSettings& supervisor) {
  using Steady = std::chrono::steady_clock;
  const auto until = Steady::now() + supervisor.drain_timeout;
  bool told = false;
  pid_t waits_for = 0;
  for (const std::string& text : supervisor.status) {
    StatusAddress address;
    parse_status_address(text, address);
    const std::string& place = address.is_unix() ? address.path : address.text;
    while (const auto found = predecessor_at(address)) {
      const http::SocketHolder& holder = found->holder;
      // A w8yd that was draining and no longer responds is about to end.
      const bool ending = told && (holder.pid == waits_for || holder.pid == 0);
      if (!found->draining && !ending) throw http::SocketInUse(place, holder);
      if (Steady::now() >= until)
        throw std::runtime_error(std::string("the status ") +
                                 (address.is_unix() ? "socket" : "address") + " is in use by " +
                                 holder.to_string() +
                                 ", which was draining for longer than drain_timeout (" +
                                 format_duration(supervisor.drain_timeout) + "): " + place);
      if (!told) {
        std::cerr << "w8yd: waiting for " << escape(holder.to_string())
                  << ", which is draining, for up to " << format_duration(supervisor.drain_timeout)
                  << std::endl;
        told = true;
        waits_for = holder.pid;
      }
      std::this_thread::sleep_for(check_pause);
    }
  }
}

}  // namespace w8y::app
