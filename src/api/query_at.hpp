// How a path gets its answer from the queries.
#pragma once

#include <functional>
#include <string>

#include "api/endpoints.hpp"
#include "api/routes.hpp"

namespace w8y::api {

/// Runs on the thread of the QueryRunner and returns a JSON object. May throw verbs::Refusal.
using Query = std::function<std::string(verbs::QueryContext&)>;
/// Reads the request on the loop and returns the Query to run. May throw verbs::Refusal.
using Question = std::function<Query(const http::HttpRequest&)>;
/// While a live host uses another format, an endpoint with POST refuses.
void query_at(const Routes& routes, const http::Endpoint& endpoint, Question question);
/// Throws verbs::Refusal while a live host uses another format: its lists, locks and jobs may not
/// be changed from here.
void refuse_in_conflict(const Routes& routes);

}  // namespace w8y::api
