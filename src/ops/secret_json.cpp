#include "ops/secret_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace w8y::ops {

namespace {

constexpr std::array<std::pair<SecretAnswer, const char*>, 3> names{
    {{SecretAnswer::same, "same"},
     {SecretAnswer::changed, "changed"},
     {SecretAnswer::none, "none"}}};

std::optional<std::string> string_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

const Json* array_of(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? &*found : nullptr;
}

std::optional<SecretQuestion> read_question(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  auto key = get_bytes(json, "key");
  auto digest = string_of(json, "digest");
  auto list = get_bytes(json, "list");
  const bool named = json.contains("list") || json.contains("list_base64");
  if (!key || !digest || (named && !list)) return std::nullopt;
  return SecretQuestion{std::move(list), std::move(*key), std::move(*digest)};
}

}  // namespace

Json to_json(const SecretQuestions& questions) {
  Json json = {{"salt", questions.salt}, {"secrets", Json::array()}};
  for (const SecretQuestion& question : questions.secrets) {
    Json one = Json::object();
    if (question.list) put_bytes(one, "list", *question.list);
    put_bytes(one, "key", question.key);
    one["digest"] = question.digest;
    json["secrets"].push_back(std::move(one));
  }
  return json;
}

std::optional<SecretQuestions> read_secret_questions(const Json& json) {
  const Json* secrets = array_of(json, "secrets");
  if (secrets == nullptr) return std::nullopt;
  SecretQuestions questions;
  auto salt = string_of(json, "salt");
  if (!salt) return std::nullopt;
  questions.salt = std::move(*salt);
  for (const Json& secret : *secrets) {
    auto question = read_question(secret);
    if (!question) return std::nullopt;
    questions.secrets.push_back(std::move(*question));
  }
  return questions;
}

Json to_json(const std::vector<SecretAnswer>& answers) {
  Json json = {{"secrets", Json::array()}};
  for (const SecretAnswer answer : answers)
    json["secrets"].push_back(names[static_cast<std::size_t>(answer)].second);
  return json;
}

std::optional<std::vector<SecretAnswer>> read_secret_answers(const Json& json) {
  const Json* secrets = array_of(json, "secrets");
  if (secrets == nullptr) return std::nullopt;
  std::vector<SecretAnswer> answers;
  for (const Json& secret : *secrets) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const auto& name) { return secret == name.second; });
    if (found == names.end()) return std::nullopt;
    answers.push_back(found->first);
  }
  return answers;
}

}  // namespace w8y::ops
