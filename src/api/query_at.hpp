// How a path gets its answer from the queries.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "api/routes.hpp"

namespace w8y::api {

/// `json`: a JSON object.
http::HttpResponse json_answer(std::string json, unsigned status = 200);

/// What a path does: reads the request on the loop, and queries on the thread of the QueryRunner
/// with what it has read. The result is a JSON object. Both may throw verbs::Refusal.
using Query = std::function<std::string(verbs::QueryContext&)>;
using Question = std::function<Query(const http::HttpRequest&)>;
/// `known`: the names of its parameters.
void query_at(const Routes& routes, const char* method, const char* path,
              std::initializer_list<const char*> known, Question question);

}  // namespace w8y::api
