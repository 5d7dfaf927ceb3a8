#include "api/secret_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/json_object.hpp"
#include "view/json_fields.hpp"

namespace w8y::api {

namespace {

using view::JsonFields;

/// In the order of SecretAnswer.
constexpr std::array names = {"same", "changed", "none"};

std::optional<SecretQuestion> read_question(const JsonFields& json) {
  auto key = json.bytes("key");
  auto list = json.bytes("list");
  const bool named = json.has("list") || json.has("list_base64");
  if (!key || !json.is_text("digest") || (named && !list)) return std::nullopt;
  return SecretQuestion{std::move(list), std::move(*key), json.text("digest")};
}

}  // namespace

std::string to_json(const SecretQuestions& questions) {
  core::AsciiObject json(4096);
  json.put("salt", questions.salt);
  json.put_json("secrets", core::json_array(questions.secrets, [](const SecretQuestion& question) {
                  core::AsciiObject one;
                  if (question.list) one.put_bytes("list", *question.list);
                  one.put_bytes("key", question.key);
                  one.put("digest", question.digest);
                  return one.finish();
                }));
  return json.finish();
}

std::optional<SecretQuestions> read_secret_questions(std::string_view text) {
  const auto json = JsonFields::parse(text);
  if (!json || !json->is_text("salt") || !json->is_array("secrets")) return std::nullopt;
  SecretQuestions questions{json->text("salt"), {}};
  for (const JsonFields& secret : json->objects("secrets")) {
    auto question = read_question(secret);
    if (!question) return std::nullopt;
    questions.secrets.push_back(std::move(*question));
  }
  // objects() omits elements that are not objects. Such an array is invalid.
  if (questions.secrets.size() != json->count("secrets")) return std::nullopt;
  return questions;
}

std::string to_json(const std::vector<SecretAnswer>& answers) {
  core::AsciiObject json(1024);
  core::JsonArray secrets;
  for (const SecretAnswer answer : answers)
    secrets.add_text(names.at(static_cast<std::size_t>(answer)));
  json.put_json("secrets", secrets.finish());
  return json.finish();
}

std::optional<std::vector<SecretAnswer>> read_secret_answers(std::string_view text) {
  const auto json = JsonFields::parse(text);
  if (!json || !json->is_array("secrets")) return std::nullopt;
  std::vector<SecretAnswer> answers;
  for (const std::string& secret : json->texts("secrets")) {
    const auto* found = std::find(names.begin(), names.end(), secret);
    if (found == names.end()) return std::nullopt;
    answers.push_back(static_cast<SecretAnswer>(found - names.begin()));
  }
  if (answers.size() != json->count("secrets")) return std::nullopt;
  return answers;
}

}  // namespace w8y::api
