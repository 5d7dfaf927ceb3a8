#include "ctl/host_api.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/escape.hpp"
#include "ctl/failure.hpp"
#include "ctl/text.hpp"

namespace w8y::ctl {

namespace {

using view::JsonFields;

/// For requests that are not essential.
constexpr Duration short_timeout = std::chrono::seconds(2);

std::vector<std::string> lines_of(const JsonFields& json) {
  std::vector<std::string> lines;
  for (const std::string& line : json.texts("lines")) lines.push_back(escape(line));
  return lines;
}

/// Returns why there is no response, and the remedy. libcurl's text for a unix socket is about
/// hosts and ports.
std::string silence(const http::HttpResult& result, const std::string& socket) {
  const std::string name = "the status socket " + escape_text(socket);
  if (access(socket.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
    return name +
           " does not exist: is w8yd running? (set its path with --config, --socket or "
           "$W8Y_SOCKET)";
  if (access(socket.c_str(), R_OK | W_OK) != 0)
    return name + " is not accessible to this user (" + std::strerror(errno) +
           "); run w8yctl as its owner, a member of its group, or root";
  const auto last = result.problem.rfind(": ");
  const std::string why =
      last == std::string::npos ? result.problem : result.problem.substr(last + 2);
  return name + " exists, but w8yd does not respond: " + escape(why);
}

/// Returns the body of a successful response; throws Failure for any other.
JsonFields answer_of(const http::HttpResult& result, const std::string& socket,
                     const char* member = "hosts") {
  if (result.status == 0 || !result.problem.empty())
    throw Failure(not_reachable, silence(result, socket));
  auto json = JsonFields::parse(result.body);
  if (!json)
    throw Failure(not_reachable,
                  "the program at the status socket " + escape_text(socket) + " is not w8yd");
  // The result of a fleet command is printed even if some hosts failed.
  if (result.status < 300 || json->has(member)) return std::move(*json);
  const std::string why = escape_line(json->text("error"));
  throw Failure(result.status == 503 ? not_reachable : refused,
                why.empty() ? "w8yd returned HTTP status " + std::to_string(result.status) : why,
                lines_of(*json));
}

}  // namespace

HostApi::HostApi(std::string socket) : socket_(std::move(socket)), client_(socket_) {}

JsonFields HostApi::request(const http::Target& target, Duration timeout, const char* member) {
  return answer_of(client_.get(target.text(), timeout), socket_, member);
}

JsonFields HostApi::send_command(const http::Target& target, const std::string& body) {
  return answer_of(client_.post(target.text(), body), socket_);
}

std::optional<JsonFields> HostApi::try_request(const http::Target& target) {
  try {
    return answer_of(client_.get(target.text(), short_timeout), socket_);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

}  // namespace w8y::ctl
