#include "store/circular/quarantine_note.hpp"

#include <nlohmann/json.hpp>

#include "core/json_object.hpp"
#include "core/number.hpp"

namespace w8y::store {

namespace {

using Json = nlohmann::json;

std::string text_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string to_text(const QuarantineNote& note) {
  core::JsonObject object(note.why.size() + 128);
  // The scripts look for the run by `"run":"` (claim.lua).
  if (!note.run.empty()) object.put("run", note.run);
  if (!note.who.empty()) object.put("who", note.who);
  if (!note.why.empty()) object.put("why", std::string_view(note.why).substr(0, longest_why));
  if (note.time != WallTime{0}) object.put("time", note.time.count());
  return object.take();
}

QuarantineNote read_note(std::string_view text) {
  if (text.size() > longest_note) return {};
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return {};
  QuarantineNote note{text_in(object, "run"), text_in(object, "who"), text_in(object, "why"), {}};
  if (const auto time = object.find("time"); time != object.end())
    note.time = read_ms(*time).value_or(WallTime{0});
  return note;
}

}  // namespace w8y::store
