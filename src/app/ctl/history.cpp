#include "app/ctl/history.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <w8y/units.hpp>

#include "app/ctl/text.hpp"

namespace w8y::app::ctl {

namespace {

/// Entries that are read at once: each may carry the tail of a standard error.
constexpr std::size_t page_of_one = 100;
constexpr std::size_t page_of_many = 10;
/// Streams that are read in one write.
constexpr std::size_t streams_at_once = 128;

void put_exit(ops::Json& json, const std::string& exit) {
  const bool is_code = exit.find_first_not_of("0123456789") == std::string::npos;
  if (is_code) {
    json["exit"] = stored_number(exit);
  } else {
    ops::put_bytes(json, "signal", exit);
  }
}

/// "<ms>-<sequence>"
std::pair<std::int64_t, std::int64_t> order_of(const std::string& entry) {
  const auto dash = entry.find('-');
  return {stored_number(entry),
          dash == std::string::npos ? 0 : stored_number(entry.substr(dash + 1))};
}

bool is_older(const FinishedRun& a, const FinishedRun& b) {
  return order_of(a.entry) < order_of(b.entry);
}

FinishedRun run_of(const std::string& list, const redis::ReplyCopy& value) {
  FinishedRun run;
  run.list = list;
  if (value.elements.size() < 2) return run;
  run.entry = value.elements[0].text;
  const auto& fields = value.elements[1].elements;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
    run.fields[fields[i].text] = fields[i + 1].text;
  return run;
}

}  // namespace

const std::string& FinishedRun::field(const char* name) const {
  static const std::string none;
  const auto found = fields.find(name);
  return found == fields.end() ? none : found->second;
}

/// The entry has the beginning of a long one, and its length beside it.
ShownItem FinishedRun::item() const {
  const std::string& text = field("item");
  const auto length =
      static_cast<std::size_t>(std::max<std::int64_t>(0, stored_number(field("item_length"))));
  return {text, std::max(length, text.size())};
}

WallTime FinishedRun::time(const char* name) const {
  return WallTime(stored_number(field(name)));
}

WallTime FinishedRun::entered() const {
  return WallTime(order_of(entry).first);
}

std::string FinishedRun::took_text() const {
  return format_duration(std::max(WallTime(0), time("ended") - time("started")));
}

ops::Json to_json(const FinishedRun& run) {
  ops::Json json = ops::Json::object();
  ops::put_bytes(json, "list", run.list);
  for (const char* name : {"run", "item", "host", "outcome", "reason", "stderr"})
    if (run.fields.contains(name)) ops::put_bytes(json, name, run.field(name));
  for (const char* name : {"started", "ended"})
    if (run.fields.contains(name)) json[std::string(name) + "_ms"] = run.time(name).count();
  if (json.contains("started_ms") && json.contains("ended_ms"))
    json["took_ms"] = (run.time("ended") - run.time("started")).count();
  if (run.fields.contains("exit")) put_exit(json, run.field("exit"));
  for (const char* name : {"item_length", "attempt", "fence", "bad_lines"})
    if (run.fields.contains(name)) json[name] = stored_number(run.field(name));
  if (run.fields.contains("result")) {
    const auto result = ops::parse(run.field("result"));
    json["result"] = result ? *result : ops::Json(run.field("result"));
  }
  return json;
}

History::History(redis::SyncClient& client, const std::vector<std::string>& prefixes)
    : client_(client) {
  for (const auto& prefix : prefixes) {
    Reader& reader = readers_.emplace_back();
    reader.list = prefix;
    reader.key = (prefix.empty() ? "" : prefix + ":") + "runs";
  }
}

bool History::next(FinishedRun& run) {
  fill();
  Reader* newest = nullptr;
  for (auto& reader : readers_)
    if (!reader.page.empty() &&
        (newest == nullptr || is_older(newest->page.back(), reader.page.back())))
      newest = &reader;
  if (newest == nullptr) return false;
  run = std::move(newest->page.back());
  newest->page.pop_back();
  return true;
}

void History::fill() {
  const std::string count = std::to_string(readers_.size() == 1 ? page_of_one : page_of_many);
  std::vector<Reader*> dry;
  for (auto& reader : readers_)
    if (reader.page.empty() && !reader.at_end) dry.push_back(&reader);
  for (std::size_t first = 0; first < dry.size(); first += streams_at_once) {
    std::vector<redis::Command> commands;
    const std::size_t end = std::min(dry.size(), first + streams_at_once);
    for (std::size_t i = first; i < end; ++i)
      commands.push_back({"XREVRANGE", dry[i]->key, dry[i]->before, "-", "COUNT", count});
    const std::vector<redis::ReplyCopy> replies = client_.pipeline(commands);
    for (std::size_t i = first; i < end && i - first < replies.size(); ++i) {
      Reader& reader = *dry[i];
      const redis::ReplyCopy& reply = replies[i - first];
      if (reply.is_error()) throw redis::RedisError(reply.text, redis::error_code(reply.text));
      for (const auto& entry : reply.elements) reader.page.push_back(run_of(reader.list, entry));
      std::reverse(reader.page.begin(), reader.page.end());
      reader.at_end = reader.page.empty();
      if (!reader.at_end) reader.before = "(" + reader.page.front().entry;
    }
  }
}

}  // namespace w8y::app::ctl
