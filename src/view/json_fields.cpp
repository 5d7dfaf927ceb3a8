#include "view/json_fields.hpp"

#include <nlohmann/json.hpp>

#include <utility>

#include "core/base64.hpp"
#include "core/json_text.hpp"

namespace w8y::view {

using Json = nlohmann::ordered_json;

struct JsonFields::Document {
  Json json;
};

namespace {

const Json* member(const void* object, std::string_view name) {
  const auto& json = *static_cast<const Json*>(object);
  const auto found = json.find(std::string(name));
  return found == json.end() ? nullptr : &*found;
}

}  // namespace

std::optional<JsonFields> JsonFields::parse(std::string_view text, std::size_t most) {
  if (text.size() > most || json_text::mistake(text)) return std::nullopt;
  auto document = std::make_shared<Document>();
  document->json = Json::parse(text, nullptr, false);
  if (!document->json.is_object()) return std::nullopt;
  const void* object = &document->json;
  return JsonFields(std::move(document), object);
}

bool JsonFields::has(std::string_view name) const {
  return member(object_, name) != nullptr;
}

std::string JsonFields::text(std::string_view name) const {
  const Json* const found = member(object_, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
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
  const Json* const found = member(object_, name);
  return found == nullptr ? std::nullopt : read_integer(*found, range);
}

std::optional<double> JsonFields::real(std::string_view name) const {
  const Json* const found = member(object_, name);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<WallTime> JsonFields::ms(std::string_view name, IntegerRange range) const {
  const Json* const found = member(object_, name);
  return found == nullptr ? std::nullopt : read_ms(*found, range);
}

bool JsonFields::flag(std::string_view name) const {
  const Json* const found = member(object_, name);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

std::vector<std::string> JsonFields::texts(std::string_view name) const {
  std::vector<std::string> all;
  const Json* const found = member(object_, name);
  if (found == nullptr || !found->is_array()) return all;
  for (const Json& each : *found)
    if (each.is_string()) all.push_back(each.get<std::string>());
  return all;
}

std::optional<JsonFields> JsonFields::object(std::string_view name) const {
  const Json* const found = member(object_, name);
  if (found == nullptr || !found->is_object()) return std::nullopt;
  return JsonFields(document_, found);
}

std::vector<JsonFields> JsonFields::objects(std::string_view name) const {
  std::vector<JsonFields> all;
  const Json* const found = member(object_, name);
  if (found == nullptr || !found->is_array()) return all;
  for (const Json& each : *found)
    if (each.is_object()) all.push_back(JsonFields(document_, &each));
  return all;
}

std::vector<std::string> JsonFields::names() const {
  std::vector<std::string> all;
  for (const auto& [name, value] : static_cast<const Json*>(object_)->items()) all.push_back(name);
  return all;
}

std::string JsonFields::value(std::string_view name) const {
  const Json* const found = member(object_, name);
  return found == nullptr ? "null" : found->dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string JsonFields::json() const {
  return static_cast<const Json*>(object_)->dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string JsonFields::with(std::string_view name, std::string_view value) const {
  Json changed = *static_cast<const Json*>(object_);
  if (value.empty()) {
    changed.erase(std::string(name));
  } else {
    changed[std::string(name)] = Json::parse(value, nullptr, false);
  }
  return changed.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::optional<std::string> line_json(std::string_view json, std::size_t most) {
  const json_text::Shape shape = json_text::shape(json);
  if (shape.depth > json_text::max_depth || shape.values > most) return std::nullopt;
  const Json value = Json::parse(json, nullptr, false);
  if (value.is_discarded()) return std::nullopt;
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string real_json(double number) {
  return Json(number).dump();
}

}  // namespace w8y::view
