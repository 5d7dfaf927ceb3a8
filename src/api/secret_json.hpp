// Comparison of the secrets of a running w8yd with those of a file, as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/reload_plan.hpp"

namespace w8y::api {

struct SecretQuestions {
  std::string salt;
  std::vector<SecretQuestion> secrets;
};

std::string to_json(const SecretQuestions& questions);
/// nullopt: the JSON has another form.
std::optional<SecretQuestions> read_secret_questions(std::string_view json);

/// One answer per question, in the same order.
std::string to_json(const std::vector<SecretAnswer>& answers);
std::optional<std::vector<SecretAnswer>> read_secret_answers(std::string_view json);

}  // namespace w8y::api
