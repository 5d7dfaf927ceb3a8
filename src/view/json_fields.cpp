#include "view/json_fields.hpp"

#include <nlohmann/json.hpp>

#include <utility>

#include "core/base64.hpp"
#include "core/json_text.hpp"

namespace w8y::view {

/// A tree that finds members by name in logarithmic time. An ordered_json compares a name with all
/// others, even while it parses: a hostile message of 1 MiB with 90,000 members would take seconds.
using Json = nlohmann::json;

struct JsonFields::Document {
  Json json;
  std::string text;
};

namespace {

const Json* member(const void* object, std::string_view name) {
  const auto& json = *static_cast<const Json*>(object);
  const auto found = json.find(std::string(name));
  return found == json.end() ? nullptr : &*found;
}

/// Returns null for a missing member.
const Json& value_of(const void* object, std::string_view name) {
  static const Json null;
  const Json* const found = member(object, name);
  return found == nullptr ? null : *found;
}

}  // namespace

std::optional<JsonFields> JsonFields::parse(std::string_view text, std::size_t most) {
  if (text.size() > most || json_text::error(text)) return std::nullopt;
  auto document = std::make_shared<Document>();
  document->json = Json::parse(text, nullptr, false);
  document->text = text;
  if (!document->json.is_object()) return std::nullopt;
  const void* object = &document->json;
  return JsonFields(std::move(document), object);
}

bool JsonFields::has(std::string_view name) const {
  return member(object_, name) != nullptr;
}

std::string JsonFields::text(std::string_view name) const {
  const Json& found = value_of(object_, name);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::optional<std::string> JsonFields::bytes(std::string_view name) const {
  const Json* const plain = member(object_, name);
  const Json* const coded = member(object_, std::string(name) + "_base64");
  if ((plain == nullptr) == (coded == nullptr)) return std::nullopt;
  const Json& value = plain != nullptr ? *plain : *coded;
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  return plain != nullptr ? std::optional(text) : base64_decode(text);
}

std::optional<std::int64_t> JsonFields::integer(std::string_view name, IntegerRange range) const {
  return read_integer(value_of(object_, name), range);
}

std::optional<double> JsonFields::real(std::string_view name) const {
  const Json& found = value_of(object_, name);
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

std::optional<WallTime> JsonFields::ms(std::string_view name, IntegerRange range) const {
  return read_ms(value_of(object_, name), range);
}

bool JsonFields::is_text(std::string_view name) const {
  return value_of(object_, name).is_string();
}

bool JsonFields::is_flag(std::string_view name) const {
  return value_of(object_, name).is_boolean();
}

bool JsonFields::is_array(std::string_view name) const {
  return value_of(object_, name).is_array();
}

std::size_t JsonFields::count(std::string_view name) const {
  const Json& found = value_of(object_, name);
  return found.is_array() ? found.size() : 0;
}

bool JsonFields::flag(std::string_view name) const {
  const Json& found = value_of(object_, name);
  return found.is_boolean() && found.get<bool>();
}

std::vector<std::string> JsonFields::texts(std::string_view name) const {
  std::vector<std::string> all;
  const Json& found = value_of(object_, name);
  if (!found.is_array()) return all;
  for (const Json& each : found)
    if (each.is_string()) all.push_back(each.get<std::string>());
  return all;
}

std::optional<JsonFields> JsonFields::object(std::string_view name) const {
  const Json& found = value_of(object_, name);
  return found.is_object() ? std::optional(JsonFields(document_, &found)) : std::nullopt;
}

std::vector<JsonFields> JsonFields::objects(std::string_view name) const {
  std::vector<JsonFields> all;
  const Json& found = value_of(object_, name);
  if (!found.is_array()) return all;
  for (const Json& each : found)
    if (each.is_object()) all.push_back(JsonFields(document_, &each));
  return all;
}

std::vector<JsonFields::Element> JsonFields::elements(std::string_view name) const {
  std::vector<Element> all;
  const Json& found = value_of(object_, name);
  if (!found.is_array()) return all;
  for (const Json& each : found) {
    Element& element = all.emplace_back();
    if (each.is_string()) element.text = each.get<std::string>();
    if (each.is_object()) element.object = JsonFields(document_, &each);
  }
  return all;
}

std::vector<std::string> JsonFields::names() const {
  std::vector<std::string> all;
  for (const auto& [name, value] : static_cast<const Json*>(object_)->items()) all.push_back(name);
  return all;
}

std::string JsonFields::value(std::string_view name) const {
  return value_of(object_, name).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string JsonFields::whole() const {
  return json_text::one_line(document_->text);
}

std::string JsonFields::whole_with(std::string_view name, std::string_view value) const {
  const auto members = json_text::members(document_->text).value();
  std::string text;
  for (const json_text::Member& each : members) {
    text.append(text.empty() ? "{" : ",");
    if (each.key == name) {
      text.append("\"").append(name).append("\":").append(value);
    } else {
      text.append(each.whole);
    }
  }
  return json_text::one_line(text += '}');
}

std::string real_json(double number) {
  return Json(number).dump();
}

}  // namespace w8y::view
