// How a path gets its answer from the queries.
#pragma once

#include <functional>
#include <initializer_list>

#include "app/api/routes.hpp"
#include "ops/status_json.hpp"

namespace w8y::app::api {

ops::HttpResponse json_answer(const ops::Json& json, unsigned status = 200);
/// `json`: a JSON object.
ops::HttpResponse text_answer(std::string json, unsigned status = 200);

/// What a path does: reads the request on the loop, and looks on the queries's thread with what it
/// has read. Both may throw verbs::Refusal.
using Look = std::function<ops::Json(verbs::QueryContext&)>;
using Question = std::function<Look(const ops::HttpRequest&)>;
/// `known`: the names of its parameters.
void look_at(const Routes& routes, const char* method, const char* path,
             std::initializer_list<const char*> known, Question question);
/// The same for a path whose answer is text already.
using LookText = std::function<std::string(verbs::QueryContext&)>;
using TextQuestion = std::function<LookText(const ops::HttpRequest&)>;
void look_at_text(const Routes& routes, const char* method, const char* path,
                  std::initializer_list<const char*> known, TextQuestion question);

}  // namespace w8y::app::api
