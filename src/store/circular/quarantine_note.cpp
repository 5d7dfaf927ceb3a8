#include "store/circular/quarantine_note.hpp"

#include "core/json_object.hpp"
#include "view/json_fields.hpp"

namespace w8y::store {

std::string to_text(const QuarantineNote& note) {
  core::JsonObject object(note.reason.size() + 128);
  // The scripts find the run by `"run":"` (claim.lua).
  if (!note.run.empty()) object.put("run", note.run);
  if (!note.by.empty()) object.put("by", note.by);
  if (!note.reason.empty())
    object.put("reason", std::string_view(note.reason).substr(0, max_reason));
  if (note.time != WallTime{0}) object.put("time_ms", note.time.count());
  return object.finish();
}

QuarantineNote read_note(std::string_view text) {
  if (text.size() > longest_note) return {};
  const auto object = view::JsonFields::parse(text);
  if (!object) return {};
  QuarantineNote note{object->text("run"), object->text("by"), object->text("reason"), {}};
  note.time = object->ms("time_ms").value_or(WallTime{0});
  return note;
}

}  // namespace w8y::store
