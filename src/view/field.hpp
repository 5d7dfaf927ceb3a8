// Rows that describe the fields of hosts, lists, items, runs and run records: name, form and
// surfaces. w8yd and w8yctl write and read JSON by these rows.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/json_object.hpp"
#include "view/json_fields.hpp"

namespace w8y::view {

/// Outputs on which a field shows; a row combines several with |. Times are Unix time in ms.
enum Surface : unsigned {
  api = 1,               ///< GET /api/v1/status, /lists of the fleet; an unknown value is null
  detail = 2,            ///< GET /api/v1/lists/LIST
  page = 4,              ///< lists in GET /api/v1/live; usual values are omitted
  heartbeat = 8,         ///< heartbeat of a host in Redis
  report = 16,           ///< list report: the part of a heartbeat about one list
  settled = 32,          ///< fields of a list report that do not change with each run
  fleet = 64,            ///< GET /api/v1/fleet
  fleet_page = 128,      ///< hosts of the fleet in GET /api/v1/live
  reply = 256,           ///< the list in the reply of a host to the command `runs`
  event = 512,           ///< event `end` on P:events; also in the history
  history = 1024,        ///< further fields in the history
  host_page = 2048,      ///< this host in GET /api/v1/live
  circular_item = 4096,  ///< item of a circular list
  schedule_job = 8192,   ///< job of a schedule
  feed_job = 16384,      ///< job of a feed
  ring = 32768,          ///< item in the ring of the page
  here = 65536,          ///< this host, in a list of the fleet in GET /api/v1/status, /lists
};

/// Surfaces that truncate texts, because each host reads the texts of all others.
constexpr unsigned cut_texts = heartbeat | report | settled;
/// Surfaces that omit fields with their usual value.
constexpr unsigned sparse = page | fleet_page;

template <class T>
struct Field {
  std::string_view name;
  unsigned surfaces;
  void (*write)(core::JsonObject& json, std::string_view name, const T& from, Surface surface);
  /// nullptr: the field is never read
  void (*read)(const JsonFields& json, std::string_view name, T& into);
};

template <class T, std::size_t Count>
void put_fields(core::JsonObject& json, const Field<T> (&rows)[Count], const T& from,
                Surface surface) {
  for (const Field<T>& row : rows)
    if ((row.surfaces & surface) != 0) row.write(json, row.name, from, surface);
}

template <class T, std::size_t Count>
void read_fields(const JsonFields& json, const Field<T> (&rows)[Count], T& into, Surface surface) {
  for (const Field<T>& row : rows)
    if ((row.surfaces & surface) != 0 && row.read != nullptr) row.read(json, row.name, into);
}

/// Returns the names of the members of an object on at least one of these surfaces. Tests compare
/// them with the manual.
template <class T, std::size_t Count>
std::vector<std::string_view> names_of(const Field<T> (&rows)[Count], unsigned surfaces) {
  std::vector<std::string_view> names;
  for (const Field<T>& row : rows)
    if ((row.surfaces & surfaces) != 0) names.push_back(row.name);
  return names;
}

/// Returns the member at the end of a path of member pointers.
template <auto First, auto... Rest>
auto& member_of(auto& from) {
  if constexpr (sizeof...(Rest) == 0) {
    return from.*First;
  } else {
    return member_of<Rest...>(from.*First);
  }
}

/// Makes a row for a member. `Form` writes and reads the value.
template <class T, class Form, auto... Path>
constexpr Field<T> field(std::string_view name, unsigned surfaces) {
  return {name, surfaces,
          [](core::JsonObject& json, std::string_view as, const T& from, Surface surface) {
            Form::write(json, as, member_of<Path...>(from), surface);
          },
          [](const JsonFields& json, std::string_view as, T& into) {
            Form::read(json, as, member_of<Path...>(into));
          }};
}

/// Makes a row for a member that is never read.
template <class T, class Form, auto... Path>
constexpr Field<T> shown_field(std::string_view name, unsigned surfaces) {
  return {name, surfaces,
          [](core::JsonObject& json, std::string_view as, const T& from, Surface surface) {
            Form::write(json, as, member_of<Path...>(from), surface);
          },
          nullptr};
}

// ---- forms

/// Returns the first bytes of a text, at most `most`, without a part of a character. Bytes that are
/// not UTF-8 become \xNN.
std::string cut_text(std::string_view text, std::size_t most);
/// Returns a JSON array.
std::string texts_json(const std::vector<std::string>& all,
                       core::JsonText form = core::JsonText::ascii);

template <std::size_t Most = 256>
struct Text {
  static void write(core::JsonObject& json, std::string_view name, const std::string& value,
                    Surface surface) {
    if (value.empty() && (surface & sparse) != 0) return;
    if ((surface & cut_texts) != 0) return json.put(name, cut_text(value, Most));
    json.put(name, value);
  }
  static void read(const JsonFields& json, std::string_view name, std::string& value) {
    value = json.text(name);
  }
};

/// Bytes. If they are not UTF-8, they are base64 in the member NAME_base64.
struct Bytes {
  static void write(core::JsonObject& json, std::string_view name, const std::string& value,
                    Surface surface) {
    if ((surface & cut_texts) != 0) return json.put(name, cut_text(value, 256));
    json.put_bytes(name, value);
  }
  static void read(const JsonFields& json, std::string_view name, std::string& value) {
    value = json.bytes(name).value_or("");
  }
};

/// Text; omitted if empty.
struct SomeText {
  static void write(core::JsonObject& json, std::string_view name, const std::string& text,
                    Surface) {
    if (!text.empty()) json.put(name, text);
  }
  static void read(const JsonFields& json, std::string_view name, std::string& text) {
    text = json.bytes(name).value_or("");
  }
};

/// Bytes; omitted if empty.
struct SomeBytes : SomeText {
  static void write(core::JsonObject& json, std::string_view name, const std::string& bytes,
                    Surface) {
    if (!bytes.empty()) json.put_bytes(name, bytes);
  }
};

/// Capabilities; only the first ones on surfaces that truncate texts.
struct Texts {
  static void write(core::JsonObject& json, std::string_view name,
                    const std::vector<std::string>& value, Surface surface);
  static void read(const JsonFields& json, std::string_view name, std::vector<std::string>& value) {
    value = json.texts(name);
  }
};

struct Flag {
  static void write(core::JsonObject& json, std::string_view name, bool value, Surface) {
    json.put(name, value);
  }
  static void read(const JsonFields& json, std::string_view name, bool& value) {
    value = json.flag(name);
  }
};

struct Number {
  template <std::integral Value>
  static void write(core::JsonObject& json, std::string_view name, Value value, Surface) {
    json.put(name, value);
  }
  template <std::integral Value>
  static void read(const JsonFields& json, std::string_view name, Value& value) {
    value = json.number<Value>(name);
  }
};

/// Number whose usual value is 0.
struct Limit : Number {
  template <std::integral Value>
  static void write(core::JsonObject& json, std::string_view name, Value value, Surface surface) {
    if (value != 0 || (surface & sparse) == 0) json.put(name, value);
  }
};

/// Writes the slots of a host or of hosts, for a row of T.
template <class T>
void write_slots(core::JsonObject& json, std::string_view name, const T& of, Surface) {
  core::AsciiObject object(64);
  object.put("limit", of.slots_limit);
  object.put("used", of.slots_used);
  json.put_json(name, object.finish());
}
template <class T>
void read_slots(const JsonFields& json, std::string_view name, T& into) {
  const auto object = json.object(name);
  if (!object) return;
  into.slots_limit = object->number<std::size_t>("limit");
  into.slots_used = object->number<std::size_t>("used");
}

/// Number; nullopt if it is not known.
struct MaybeNumber {
  template <std::integral Value>
  static void write(core::JsonObject& json, std::string_view name,
                    const std::optional<Value>& value, Surface surface) {
    if (value) {
      json.put(name, *value);
    } else if ((surface & sparse) == 0) {
      json.put_json(name, "null");
    }
  }
  template <std::integral Value>
  static void read(const JsonFields& json, std::string_view name, std::optional<Value>& value) {
    const auto number = json.integer(name, {0, range_of<Value>.max});
    value = number ? std::optional(static_cast<Value>(*number)) : std::nullopt;
  }
};

/// Number; omitted if it is not known.
struct KnownNumber : MaybeNumber {
  template <std::integral Value>
  static void write(core::JsonObject& json, std::string_view name,
                    const std::optional<Value>& value, Surface surface) {
    if (value) MaybeNumber::write(json, name, value, surface);
  }
};

/// Time; null if the event never happened.
struct Time {
  static void write(core::JsonObject& json, std::string_view name, WallTime value,
                    Surface surface) {
    if (value.count() != 0) {
      json.put(name, static_cast<std::int64_t>(value.count()));
    } else if ((surface & sparse) == 0) {
      json.put_json(name, "null");
    }
  }
  static void read(const JsonFields& json, std::string_view name, WallTime& value) {
    value = json.ms(name).value_or(WallTime{0});
  }
};

/// Duration that may be negative, or time; null if it is not known.
struct MaybeTime {
  template <class Value>
  static void write(core::JsonObject& json, std::string_view name,
                    const std::optional<Value>& value, Surface surface) {
    if (value) {
      json.put(name,
               static_cast<std::int64_t>(std::chrono::duration_cast<WallTime>(*value).count()));
    } else if ((surface & sparse) == 0) {
      json.put_json(name, "null");
    }
  }
  template <class Value>
  static void read(const JsonFields& json, std::string_view name, std::optional<Value>& value) {
    value = json.ms(name, signed_ms_range);
  }
};

/// Duration or time; omitted if it is not known.
struct KnownTime : MaybeTime {
  template <class Value>
  static void write(core::JsonObject& json, std::string_view name,
                    const std::optional<Value>& value, Surface surface) {
    if (value) MaybeTime::write(json, name, value, surface);
  }
};

/// Duration or time that is not negative; omitted if it is not known.
struct RecordTime : KnownTime {
  template <class Value>
  static void read(const JsonFields& json, std::string_view name, std::optional<Value>& value) {
    value = json.ms(name);
  }
};

}  // namespace w8y::view
