// Parameters and body of a request to the status API. All functions throw verbs::QueryError with
// 400 and a sentence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/routes.hpp"
#include "core/clock.hpp"
#include "http/http.hpp"
#include "operator/runs.hpp"
#include "view/json_fields.hpp"

namespace w8y::api {

// Status codes of HTTP.
inline constexpr unsigned bad_request = 400;
inline constexpr unsigned conflict = 409;

/// Returns the value of a parameter; empty if the request does not have it.
std::string text_of(const http::HttpRequest& request, const char* name);
/// Returns the value of ?list=; nullopt if the request does not have it, or it is empty.
std::optional<std::string> list_of(const http::HttpRequest& request);
/// Returns whether the value is "yes". Refuses any other value.
bool yes_of(const http::HttpRequest& request, const char* name);
/// Returns the time that was ?since= ago, a duration such as "1d"; nullopt if the request does not
/// have it.
std::optional<WallTime> since_of(const http::HttpRequest& request);
/// Returns the page of ?limit= and ?after=.
verbs::PageRequest part_of(const http::HttpRequest& request);
/// Returns the outcomes of ?outcome=.
std::vector<std::string> outcomes_of(const http::HttpRequest& request);

/// Parses the body: an object without members other than `known`, or nothing. A name may also have
/// the suffix _base64.
view::JsonFields body_of(const std::string& body, const std::vector<std::string>& known);
std::string text_in(const view::JsonFields& body, const char* name);
bool flag_in(const view::JsonFields& body, const char* name);
/// Returns the operator of a change: the member "by", otherwise the status API of this host.
std::string by_in(const view::JsonFields& body, const Routes& routes);
/// The same for a request that has ?by=, or a body of any form; a long body is not parsed.
std::string by_of(const http::HttpRequest& request, const Routes& routes);
/// Parses a duration such as "10m".
std::optional<Duration> duration_in(const view::JsonFields& body, const char* name);

/// Returns the sentence of an error response.
std::string error_in(const http::HttpResponse& answer);

/// Returns the time by the clock of this host. Any thread may call it.
WallTime wall_time();

}  // namespace w8y::api
