// How a path gets its answer from the queries.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "api/routes.hpp"

namespace w8y::api {

/// Runs on the thread of the QueryRunner and returns a JSON object. May throw verbs::Refusal.
using Query = std::function<std::string(verbs::QueryContext&)>;
/// Reads the request on the loop and returns the Query to run. May throw verbs::Refusal.
using Question = std::function<Query(const http::HttpRequest&)>;
/// `known`: the names of its parameters.
void query_at(const Routes& routes, const char* method, const char* path,
              std::initializer_list<const char*> known, Question question);

}  // namespace w8y::api
