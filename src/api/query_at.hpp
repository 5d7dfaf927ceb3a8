// Endpoints whose responses come from queries.
#pragma once

#include <functional>
#include <string>

#include "api/endpoints.hpp"
#include "api/routes.hpp"

namespace w8y::api {

/// Runs on the thread of the QueryRunner and returns a JSON object. May throw verbs::QueryError.
using Query = std::function<std::string(verbs::QueryContext&)>;
/// Reads the request on the loop and returns the Query to run. May throw verbs::QueryError.
using Question = std::function<Query(const http::HttpRequest&)>;
/// Adds an endpoint. While a live host uses another format, an endpoint with POST refuses requests.
void query_at(const Routes& routes, const http::Endpoint& endpoint, Question question);
/// Returns a handler that responds with an error for each verbs::QueryError of `handler`.
http::Router::Handler refusing(http::Router::Handler handler);
void send_refusal(const http::HttpReplyPtr& reply, const verbs::QueryError& refusal);
/// Throws verbs::QueryError while a live host uses another format: this build must not change its
/// lists, locks and jobs.
void refuse_in_conflict(const Routes& routes);

}  // namespace w8y::api
