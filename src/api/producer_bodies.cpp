#include "api/producer_bodies.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "api/parameters.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "core/units.hpp"
#include "operator/random_ids.hpp"
#include "view/json_fields.hpp"

namespace w8y::api {

namespace {

using verbs::QueryError;
using view::JsonFields;

constexpr Duration default_keep = std::chrono::hours(1);
constexpr Duration max_keep = std::chrono::hours(24);

/// Returns the elements of the array `name`. Refuses fewer than 1 and more than `most` elements.
std::vector<JsonFields::Element> elements_of(const JsonFields& body, const char* name,
                                             std::size_t most) {
  if (!body.is_array(name)) throw QueryError(bad_request, std::string(name) + " must be an array");
  const std::size_t count = body.count(name);
  if (count < 1 || count > most)
    throw QueryError(bad_request, std::string(name) + " has " + std::to_string(count) +
                                      " entries; it may have 1 to " + std::to_string(most));
  return body.elements(name);
}

/// Reads each element by `read`, which returns nullopt and sets the error if it is invalid.
template <class Value, class Read>
Entries<Value> entries_of(const JsonFields& body, const char* name, std::size_t most, Read read) {
  Entries<Value> entries;
  for (const JsonFields::Element& element : elements_of(body, name, most)) {
    std::string& error = entries.errors.emplace_back();
    auto value = read(element, error);
    if (value) entries.valid.push_back(std::move(*value));
  }
  if (entries.valid.empty())
    throw QueryError(bad_request, "no entry of " + std::string(name) + " is valid; " + name +
                                      "[0] " + entries.errors.front());
  return entries;
}

std::optional<Item> item_of(const JsonFields::Element& element, std::string& error) {
  if (element.text) return element.text;
  if (element.object && element.object->names() == std::vector<std::string>{"item_base64"})
    if (auto item = element.object->bytes("item")) return item;
  error = "must be a string, or an object with only item_base64";
  return std::nullopt;
}

/// Returns an error if the object has a member that is not in `known`; empty: it has none.
std::string other_member(const JsonFields& object, const std::vector<std::string_view>& known) {
  for (const std::string& name : object.names())
    if (std::find(known.begin(), known.end(), name) == known.end())
      return "has the unknown member " + escape_text(name) +
             "; known members: payload, id, high, rerun, keep_result";
  return {};
}

std::string keep_error(const JsonFields& job, std::optional<Duration>& keep) {
  keep = default_keep;
  if (!job.has("keep_result")) return {};
  if (job.is_flag("keep_result") && !job.flag("keep_result")) {
    keep.reset();
    return {};
  }
  keep = job.is_text("keep_result") ? parse_duration(job.text("keep_result")) : std::nullopt;
  if (keep && *keep >= std::chrono::milliseconds(1) && *keep <= max_keep) return {};
  return "needs a keep_result of at most 1d, such as \"10m\", or false";
}

/// Reads an entry into `job`. Returns why the entry is invalid; empty: it is valid.
std::string read_job(const JsonFields& object, verbs::NewJob& job) {
  if (std::string error = other_member(
          object, {"payload", "payload_base64", "id", "id_base64", "high", "rerun", "keep_result"});
      !error.empty())
    return error;
  auto payload = object.bytes("payload");
  if (!payload) return "needs payload, a string, or payload_base64";
  job.payload = std::move(*payload);
  job.is_new = !object.has("id") && !object.has("id_base64");
  if (!job.is_new) {
    auto id = object.bytes("id");
    if (!id) return "needs id as a string, or id_base64";
    if (std::string error = verbs::id_error(*id); !error.empty()) return error;
    job.id = std::move(*id);
  }
  if (object.has("high") && !object.is_flag("high")) return "needs high as true or false";
  job.high = object.flag("high");
  if (object.has("rerun") && !object.is_flag("rerun")) return "needs rerun as true or false";
  job.rerun = object.flag("rerun");
  if (job.rerun && job.is_new) return "needs an id for rerun";
  return keep_error(object, job.keep);
}

/// Returns the text of a digit of verbs::PutAs, or of store::AddedAs.
const char* result_text(char digit) {
  constexpr std::array texts = {"exists", "added", "replaced", "runs_again", "stalled"};
  return texts.at(static_cast<std::size_t>(digit - '0'));
}

}  // namespace

ItemsToAdd read_items_to_add(const std::string& body) {
  const JsonFields fields = body_of(body, {"items", "allow_duplicates", "create", "by"});
  return {entries_of<Item>(fields, "items", 1000, item_of), flag_in(fields, "allow_duplicates"),
          flag_in(fields, "create"), text_in(fields, "by")};
}

JobsToPut read_jobs_to_put(const std::string& body) {
  const JsonFields fields = body_of(body, {"jobs", "create", "by"});
  verbs::RandomIds ids;
  const auto read = [&ids](const JsonFields::Element& element,
                           std::string& error) -> std::optional<verbs::NewJob> {
    verbs::NewJob job;
    error = element.object ? read_job(*element.object, job) : "must be an object";
    if (!error.empty()) return std::nullopt;
    if (job.is_new) job.id = ids.next();
    return job;
  };
  return {entries_of<verbs::NewJob>(fields, "jobs", verbs::max_put, read),
          flag_in(fields, "create"), text_in(fields, "by")};
}

ScheduleBody read_schedule_to_set(const std::string& body) {
  const JsonFields fields = body_of(body, {"schedule", "tz", "jitter", "create"});
  if (!fields.is_text("schedule"))
    throw QueryError(bad_request, "schedule must be a string, such as \"FREQ=DAILY\"");
  if (fields.has("tz") && !fields.is_text("tz"))
    throw QueryError(bad_request, "tz must be a string, such as \"Europe/Berlin\"");
  ScheduleBody read{{fields.text("schedule"), fields.text("tz"), {}}, flag_in(fields, "create")};
  if (const auto jitter = duration_in(fields, "jitter")) {
    if (*jitter < std::chrono::seconds(1) || *jitter > std::chrono::hours(7 * 24))
      throw QueryError(bad_request, "jitter must be a duration from 1s to 7d");
    read.schedule.jitter = std::chrono::duration_cast<std::chrono::milliseconds>(*jitter);
  }
  return read;
}

std::string written_json(const char* name, const std::string& value, const char* entries,
                         const char* member, const std::vector<std::string>& valid,
                         const std::vector<std::string>& errors, const std::string& results) {
  core::JsonArray all;
  std::size_t next = 0, added = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    core::AsciiObject entry;
    entry.put("index", i);
    if (errors[i].empty()) {
      const bool is_added = next < results.size() && results[next] == '1';
      if (is_added) ++added;
      entry.put("result", result_text(next < results.size() ? results[next] : '0'));
      entry.put_bytes(member, valid[next++]);
    } else {
      entry.put("result", "invalid");
      entry.put("error", errors[i]);
    }
    all.add(entry.finish());
  }
  core::AsciiObject json(4096);
  json.put_bytes(name, value);
  json.put("added", added);
  json.put_json(entries, all.finish());
  return json.finish();
}

}  // namespace w8y::api
