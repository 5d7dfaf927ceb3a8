// What a request to the status API says. All throw verbs::Refusal with 400 and a sentence.
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

// Of HTTP.
inline constexpr unsigned bad_request = 400;
inline constexpr unsigned conflict = 409;

/// Empty: it is not there.
std::string text_of(const http::HttpRequest& request, const char* name);
/// ?list=; nullopt: it is not there, or empty.
std::optional<std::string> list_of(const http::HttpRequest& request);
/// "yes"; anything else is refused.
bool yes_of(const http::HttpRequest& request, const char* name);
/// ?limit= and ?after=
verbs::PageRequest part_of(const http::HttpRequest& request);
/// ?outcome=
std::vector<std::string> outcomes_of(const http::HttpRequest& request);

/// An object, or nothing at all; with no other members than these. A name may also have _base64.
view::JsonFields body_of(const http::HttpRequest& request, std::vector<std::string> known);
std::string text_in(const view::JsonFields& body, const char* name);
bool flag_in(const view::JsonFields& body, const char* name);
/// Who asks for a change: as he says, else this host's status API.
std::string by_in(const view::JsonFields& body, const Routes& routes);
/// "10m"
std::optional<Duration> duration_in(const view::JsonFields& body, const char* name);

/// The sentence of an answer that is an error.
std::string error_in(const http::HttpResponse& answer);

/// By this host's clock; from any thread.
WallTime wall_time();

}  // namespace w8y::api
