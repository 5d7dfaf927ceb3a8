#include "view/field.hpp"

#include "core/escape.hpp"

namespace w8y::view {

namespace {

/// Maximum number of bytes of all capabilities together, if texts are truncated.
constexpr std::size_t max_of_texts = 1024;

}  // namespace

std::string cut_text(std::string_view text, std::size_t most) {
  // Each byte of an escape may take two bytes in JSON.
  return is_utf8(text) && text.size() <= most / 2 ? std::string(text) : escape(text, most / 2);
}

std::string texts_json(const std::vector<std::string>& all, core::JsonText form) {
  core::JsonArray texts;
  for (const std::string& each : all) texts.add_text(each, form);
  return texts.finish();
}

void Texts::write(core::JsonObject& json, std::string_view name,
                  const std::vector<std::string>& value, Surface surface) {
  if ((surface & cut_texts) == 0) return json.put_json(name, texts_json(value));
  std::vector<std::string> some;
  std::size_t bytes = 0;
  for (const std::string& each : value) {
    std::string text = cut_text(each, 256);
    bytes += text.size() + 4;
    if (bytes > max_of_texts) break;
    some.push_back(std::move(text));
  }
  json.put_json(name, texts_json(some, core::JsonText::utf8));
}

}  // namespace w8y::view
