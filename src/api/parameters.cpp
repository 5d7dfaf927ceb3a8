#include "api/parameters.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/escape.hpp"
#include "core/number.hpp"
#include "core/units.hpp"
#include "operator/query_context.hpp"
#include "operator/stored.hpp"

namespace w8y::api {

namespace {

using verbs::QueryError;
using view::JsonFields;

constexpr std::size_t max_wanted = 1000;
constexpr std::array outcome_names{"succeeded", "failed",    "crashed",
                                   "timed out", "cancelled", "lost"};

}  // namespace

std::string text_of(const http::HttpRequest& request, const char* name) {
  return request.parameter(name).value_or("");
}

std::optional<std::string> list_of(const http::HttpRequest& request) {
  std::string list = text_of(request, "list");
  return list.empty() ? std::nullopt : std::optional(std::move(list));
}

bool yes_of(const http::HttpRequest& request, const char* name) {
  const auto value = request.parameter(name);
  if (value && *value != "yes")
    throw QueryError(bad_request, "?" + std::string(name) + "= must be yes, or must be omitted");
  return value.has_value();
}

std::optional<WallTime> since_of(const http::HttpRequest& request) {
  const auto text = request.parameter("since");
  if (!text) return std::nullopt;
  const auto ago = parse_duration(*text);
  if (!ago)
    throw QueryError(bad_request,
                     "?since= must be a duration, such as 1d or 2h, not " + escape_text(*text));
  return wall_time() - std::chrono::duration_cast<WallTime>(*ago);
}

verbs::PageRequest part_of(const http::HttpRequest& request) {
  verbs::PageRequest part;
  if (const auto limit = request.parameter("limit")) {
    const auto number = read_integer(*limit, {1, max_wanted});
    if (!number)
      throw QueryError(bad_request, "?limit= must be a number from 1 to " +
                                        std::to_string(max_wanted) + ", not " +
                                        escape_text(*limit));
    part.limit = static_cast<std::size_t>(*number);
  }
  part.after = text_of(request, "after");
  return part;
}

std::vector<std::string> outcomes_of(const http::HttpRequest& request) {
  std::vector<std::string> outcomes;
  const auto text = request.parameter("outcome");
  if (!text) return outcomes;
  for (std::size_t at = 0; at <= text->size();) {
    const std::size_t end = std::min(text->find(',', at), text->size());
    outcomes.push_back(text->substr(at, end - at));
    at = end + 1;
    if (std::find(outcome_names.begin(), outcome_names.end(), outcomes.back()) !=
        outcome_names.end())
      continue;
    std::string all;
    for (const char* name : outcome_names) all += (all.empty() ? "" : ", ") + std::string(name);
    throw QueryError(bad_request, "?outcome= must be a comma-separated list of " + all + "; got " +
                                      escape_text(outcomes.back()));
  }
  return outcomes;
}

JsonFields body_of(const std::string& text, const std::vector<std::string>& known) {
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  auto body = JsonFields::parse(text.empty() ? "{}" : text);
  if (!body) throw QueryError(bad_request, "the body must be a JSON object; known members: " + all);
  for (const std::string& name : body->names()) {
    const bool is_known = std::any_of(known.begin(), known.end(), [&name](const std::string& one) {
      return name == one || name == one + "_base64";
    });
    if (!is_known)
      throw QueryError(bad_request, "the body has the unknown member " + escape_text(name) +
                                        "; known members: " + all);
  }
  return std::move(*body);
}

std::string text_in(const JsonFields& body, const char* name) {
  if (!body.has(name) && !body.has(std::string(name) + "_base64")) return {};
  auto text = body.bytes(name);
  if (!text)
    throw QueryError(bad_request, std::string(name) + " must be a string, or base64 under " + name +
                                      "_base64; not both");
  return std::move(*text);
}

bool flag_in(const JsonFields& body, const char* name) {
  if (body.has(name) && !body.is_flag(name))
    throw QueryError(bad_request, std::string(name) + " must be true or false (default: false)");
  return body.flag(name);
}

std::string by_in(const JsonFields& body, const Routes& routes) {
  std::string by = text_in(body, "by");
  return by.empty() ? "the status API of " + routes.control.status().host : by;
}

std::string by_of(const http::HttpRequest& request, const Routes& routes) {
  if (std::string by = text_of(request, "by"); !by.empty()) return by;
  constexpr std::size_t max_body = std::size_t{16} << 10;
  auto body = JsonFields::parse(request.body, max_body);
  if (!body) body = JsonFields::parse("{}");
  return by_in(*body, routes);
}

std::string error_in(const http::HttpResponse& answer) {
  const auto body = JsonFields::parse(answer.body);
  return body ? body->text("error") : std::string();
}

WallTime wall_time() {
  return loop::SystemClock().wall();
}

std::optional<Duration> duration_in(const JsonFields& body, const char* name) {
  if (!body.has(name)) return std::nullopt;
  const auto duration = parse_duration(body.text(name));
  if (!duration || *duration < std::chrono::milliseconds(1))
    throw QueryError(bad_request, std::string(name) + " must be a duration, such as \"10m\"");
  return duration;
}

}  // namespace w8y::api
