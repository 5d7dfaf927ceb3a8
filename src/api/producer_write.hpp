// Endpoints by which programs create work.
#pragma once

#include <functional>
#include <string>

#include "api/endpoints.hpp"
#include "api/routes.hpp"
#include "operator/request_once.hpp"

namespace w8y::api {

/// Change by a request. Runs on the thread of the QueryRunner and returns a JSON object. May throw
/// verbs::QueryError and verbs::FeedRefused.
using Change = std::function<std::string(verbs::QueryContext&, const http::HttpRequest&)>;
/// Adds an endpoint that changes Redis. A 503 has Retry-After, and reports whether the change may
/// have been made.
void write_at(const Routes& routes, const http::Endpoint& endpoint, Change change);

/// Returns the request for verbs that carry it out once, if it has an Idempotency-Key.
verbs::RequestOnce once(const http::HttpRequest& request);
/// Throws verbs::QueryError, 422, if the key was used for another request.
void check_once(const store::RecordedReply& reply);

/// Adds Retry-After to a 503. `in_doubt`: also reports that the change may have been made.
http::HttpResponse with_retry(http::HttpResponse response, bool in_doubt);
/// Calls `read`, and returns errors of feeds with their HTTP status.
http::HttpResponse feed_response(const std::function<std::string()>& read);

}  // namespace w8y::api
