#include "view/item_view.hpp"

#include <utility>

#include "view/kinds.hpp"
#include "view/run_view.hpp"

namespace w8y::view {

namespace {

/// Maximum number of bytes of a name on the page.
constexpr std::size_t max_ring_name = 120;

void write_name(core::JsonObject& json, std::string_view name, const ItemView& item, Surface) {
  put_item(json, name, item.shown());
}

struct State {
  static void write(core::JsonObject& json, std::string_view name, std::string_view state,
                    Surface) {
    json.put(name, state);
  }
};

/// Bytes; omitted if they were not read.
struct ReadBytes {
  static void write(core::JsonObject& json, std::string_view name,
                    const std::optional<std::string>& value, Surface) {
    if (value) json.put_bytes(name, *value);
  }
};

/// Process ID in a lock, which other programs may have written.
struct Pid {
  static void write(core::JsonObject& json, std::string_view name, const std::string& value,
                    Surface) {
    if (const auto pid = read_integer(value, range_of<std::int64_t>)) json.put(name, *pid);
  }
};

/// Count; omitted if it is 0.
struct KnownCount {
  static void write(core::JsonObject& json, std::string_view name, std::size_t value, Surface) {
    if (value > 0) json.put(name, value);
  }
};

/// Flag; omitted if it is false.
struct SetFlag {
  static void write(core::JsonObject& json, std::string_view name, bool value, Surface) {
    if (value) json.put_json(name, "true");
  }
};

void write_next(core::JsonObject& json, std::string_view name, const ItemView& item, Surface) {
  if (!item.schedule) return;
  json.put_bytes("description", item.words);
  json.put_json(name, core::json_array(item.next,
                                       [](WallTime time) { return std::to_string(time.count()); }));
}

/// Writes the payload if it was read, and its length if only its first bytes were read.
void write_payload(core::JsonObject& json, std::string_view name, const ItemView& item, Surface) {
  if (!item.payload) return;
  json.put_bytes(name, *item.payload);
  if (item.payload->size() < item.payload_length) json.put("payload_length", item.payload_length);
}

using I = ItemView;
constexpr unsigned items = circular_item | schedule_job | feed_job;
constexpr Field<I> item_fields[] = {
    {"item", items, write_name, nullptr},
    shown_field<I, State, &I::state>("state", items | ring),
    shown_field<I, ReadBytes, &I::status>("status", schedule_job),
    shown_field<I, Number, &I::copies>("copies", circular_item),
    shown_field<I, Number, &I::failures>("failures", items),
    shown_field<I, SomeBytes, &I::lock>("lock", circular_item),
    shown_field<I, SomeBytes, &I::lock>("tag", schedule_job),
    shown_field<I, KnownTime, &I::left>("remaining_ms", circular_item | schedule_job),
    shown_field<I, SomeBytes, &I::host>("host", items | ring),
    shown_field<I, Pid, &I::pid>("pid", circular_item | schedule_job),
    shown_field<I, SomeBytes, &I::run>("run", items | ring),
    shown_field<I, KnownTime, &I::since>("since_ms", items | ring),
    shown_field<I, KnownTime, &I::until>("until_ms", feed_job | ring),
    shown_field<I, KnownTime, &I::due>("due_ms", schedule_job),
    shown_field<I, Bytes, &I::queue>("queue", schedule_job),
    shown_field<I, KnownCount, &I::queue_position>("position", schedule_job | feed_job),
    shown_field<I, SomeBytes, &I::by>("by", circular_item | ring),
    shown_field<I, SomeBytes, &I::why>("reason", circular_item | schedule_job | ring),
    shown_field<I, SetFlag, &I::quarantined_at_end>("quarantined_at_end", circular_item),
    shown_field<I, SetFlag, &I::quarantined_at_end>("stalled_at_end", feed_job),
    {"payload", feed_job, write_payload, nullptr},
    shown_field<I, ReadBytes, &I::schedule>("rule", schedule_job),
    {"next_ms", schedule_job, write_next, nullptr},
};

}  // namespace

ItemView item_named(Item name) {
  ItemView item;
  item.length = name.size();
  item.item = std::move(name);
  return item;
}

std::vector<std::string_view> item_names(const KindTraits& kind) {
  return names_of(item_fields, view_of(kind).surface);
}

void put_fields(core::JsonObject& json, const ItemView& item, const KindTraits& kind) {
  put_fields(json, item_fields, item, view_of(kind).surface);
}

std::string to_json(const ItemView& item, const KindTraits& kind) {
  core::AsciiObject json(256);
  put_fields(json, item, kind);
  return json.finish();
}

std::string ring_json(const ItemView& item, std::size_t index) {
  core::AsciiObject json(256);
  json.put("index", index);
  put_item(json, "item", shortened(item.shown(), max_ring_name));
  put_fields(json, item_fields, item, ring);
  return json.finish();
}

std::string ring_name(const ItemView& item) {
  core::AsciiObject json(64);
  put_item(json, "item", shortened(item.shown(), max_ring_name));
  return json.finish();
}

}  // namespace w8y::view
