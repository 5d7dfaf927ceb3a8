#include "store/circular/quarantine_note.hpp"

#include "core/json_object.hpp"
#include "view/json_fields.hpp"

namespace w8y::store {

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
  const auto object = view::JsonFields::parse(text);
  if (!object) return {};
  QuarantineNote note{object->text("run"), object->text("who"), object->text("why"), {}};
  note.time = object->ms("time").value_or(WallTime{0});
  return note;
}

}  // namespace w8y::store
