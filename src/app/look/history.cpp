#include "app/look/history.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/look/stored.hpp"
#include "core/base64.hpp"
#include "core/json_text.hpp"
#include "core/number.hpp"
#include "core/units.hpp"

namespace w8y::app::look {

namespace {

/// Entries that are read at once: each may carry the tail of a standard error.
constexpr std::size_t page_of_one = 100;
constexpr std::size_t page_of_many = 10;
/// The same of very many; each begins with the one that was read last.
constexpr std::size_t page_of_most = 3;
constexpr std::size_t most_lists = 1000;
/// Histories that are read in one write.
constexpr std::size_t histories_at_once = 128;
/// Of so many entries that follow each other, one says at least when it came in
/// (parts/history.lua).
constexpr std::size_t most_together = 32;
/// Of an entry; w8yd writes less than 20.
constexpr std::size_t most_members = 64;

using ops::Json;

/// Tells entries of a history from each other (FNV-1a).
std::uint64_t digest(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

void put_exit(Json& json, const std::string& exit) {
  const bool is_code = exit.find_first_not_of("0123456789") == std::string::npos;
  if (!is_code) return ops::put_bytes(json, "signal", exit);
  if (const auto code = read_integer(exit, {0, 255})) json["exit"] = *code;
}

/// A string's own text, else the JSON.
std::string text_of(const json_text::Member& member) {
  return json_text::as_string(member.value).value_or(std::string(member.value));
}

std::optional<WallTime> time_in(const std::vector<json_text::Member>& entry, const char* name) {
  const json_text::Member* const found = json_text::find(entry, name);
  return found == nullptr ? std::nullopt : read_ms(std::string_view(found->value));
}

void add_field(FinishedRun& run, const json_text::Member& member) {
  constexpr std::string_view base64 = "_base64";
  const std::string& name = member.key;
  if (name == "list" || name == "type" || name == "took_ms" || name == "entered_ms") return;
  if (name == "result") {
    run.fields[name] = member.value;
  } else if (name == "time_ms") {
    run.fields["ended"] = text_of(member);
  } else if (name == "signal") {
    run.fields["exit"] = text_of(member);
  } else if (name.ends_with(base64)) {
    if (auto bytes = base64_decode(text_of(member)))
      run.fields[name.substr(0, name.size() - base64.size())] = std::move(*bytes);
  } else {
    run.fields[name] = text_of(member);
  }
}

/// nullopt: not written by us. `entered`: of the one before it, and then of this one, which says it
/// where that is another time.
std::optional<FinishedRun> run_of(const std::string& list, const std::string& text,
                                  std::optional<WallTime>& entered) {
  // Never as a tree: a result may have millions of values, and a hostile entry has millions of
  // members.
  if (json_text::shape(text).members > most_members || json_text::mistake(text))
    return std::nullopt;
  const auto entry = json_text::members(text);
  if (!entry) return std::nullopt;
  if (const auto time = time_in(*entry, "entered_ms")) entered = time;
  FinishedRun run;
  run.list = list;
  run.entered = entered.value_or(WallTime{});
  for (const json_text::Member& member : *entry) add_field(run, member);
  const auto ended = time_in(*entry, "time_ms");
  const auto took = time_in(*entry, "took_ms");
  if (ended && took && *took <= *ended)
    run.fields["started"] = std::to_string((*ended - *took).count());
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
  const auto length = static_cast<std::size_t>(stored_number(field("item_length")));
  return {text, std::max(length, text.size())};
}

WallTime FinishedRun::time(const char* name) const {
  return read_ms(std::string_view(field(name))).value_or(WallTime{0});
}

std::string FinishedRun::took_text() const {
  return format_duration(std::max(WallTime(0), time("ended") - time("started")));
}

Json to_json(const FinishedRun& run) {
  Json json = ops::Json::object();
  ops::put_bytes(json, "list", run.list);
  for (const char* name : {"run", "item", "host", "outcome", "reason", "stderr"})
    if (run.fields.contains(name)) ops::put_bytes(json, name, run.field(name));
  for (const char* name : {"started", "ended"})
    if (const auto time = read_ms(std::string_view(run.field(name))))
      json[std::string(name) + "_ms"] = time->count();
  if (json.contains("started_ms") && json.contains("ended_ms"))
    json["took_ms"] = (run.time("ended") - run.time("started")).count();
  if (run.fields.contains("exit")) put_exit(json, run.field("exit"));
  for (const char* name : {"item_length", "attempt", "fence", "bad_lines"})
    if (const auto number = read_integer(run.field(name), {})) json[name] = *number;
  if (run.fields.contains("result")) {
    const auto result = ops::parse(run.field("result"), most_result_values);
    json["result"] = result ? *result : Json(run.field("result"));
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
        (newest == nullptr || newest->page.back().run.entered < reader.page.back().run.entered))
      newest = &reader;
  if (newest == nullptr) return false;
  run = std::move(newest->page.back().run);
  place_ = newest->page.back().place;
  newest->page.pop_back();
  return true;
}

void History::go_on(const Place& place) {
  readers_.front().at = place.behind;
  if (place.behind > 0) readers_.front().last = place.entry;
}

void History::go_back_to(WallTime time) {
  struct Span {
    Reader* reader;
    std::size_t low;
    std::size_t high;
    std::size_t before = 0;  ///< how many are read with the one in the middle, for its time

    [[nodiscard]] std::size_t middle() const { return low + (high - low) / 2; }
    [[nodiscard]] std::size_t first() const { return middle() - std::min(middle(), before); }
    /// Also of one that is not written by us.
    void narrow(bool later) { (later ? low : high) = later ? middle() + 1 : middle(); }
  };
  std::vector<Span> spans;
  std::vector<redis::Command> commands;
  for (Reader& reader : readers_) commands.push_back({"LLEN", reader.key});
  const std::vector<redis::ReplyCopy> lengths = client_.pipeline(commands);
  for (std::size_t i = 0; i < readers_.size(); ++i)
    spans.push_back({&readers_[i], 0, static_cast<std::size_t>(lengths[i].number)});
  while (true) {
    commands.clear();
    std::vector<std::string> places;
    std::vector<Span*> open;
    places.reserve(2 * histories_at_once);
    for (Span& span : spans)
      if (span.low < span.high && open.size() < histories_at_once) {
        open.push_back(&span);
        const std::string& from = places.emplace_back(std::to_string(span.first()));
        const std::string& to = places.emplace_back(std::to_string(span.middle()));
        commands.push_back({"LRANGE", span.reader->key, from, to});
      }
    if (open.empty()) break;
    const std::vector<redis::ReplyCopy> replies = client_.pipeline(commands);
    for (std::size_t i = 0; i < open.size(); ++i) {
      Span& span = *open[i];
      std::optional<WallTime> entered;
      for (const redis::ReplyCopy& entry : replies[i].elements)
        run_of(span.reader->list, entry.text, entered);
      read_ += replies[i].elements.size();
      // Where many come in together, most don't say when.
      if (!entered && std::exchange(span.before, most_together - 1) == 0) continue;
      span.narrow(entered && *entered > time);
    }
  }
  // What came in meanwhile stands before these, and need not say when.
  for (const Span& span : spans) {
    span.reader->at = span.low - std::min(span.low, span.before);
    if (span.reader->at > 0) span.reader->entered.reset();
  }
}

/// A page may hold nothing but what was read before.
void History::fill() {
  for (;;) {
    std::vector<Reader*> dry;
    for (auto& reader : readers_)
      if (reader.page.empty() && !reader.at_end) dry.push_back(&reader);
    if (dry.empty()) return;
    read_pages(dry);
  }
}

void History::read_pages(const std::vector<Reader*>& dry) {
  const std::size_t count = readers_.size() == 1            ? page_of_one
                            : readers_.size() <= most_lists ? page_of_many
                                                            : page_of_most;
  for (std::size_t first = 0; first < dry.size(); first += histories_at_once) {
    std::vector<redis::Command> commands;
    std::vector<std::string> places;
    const std::size_t end = std::min(dry.size(), first + histories_at_once);
    places.reserve(2 * (end - first));
    for (std::size_t i = first; i < end; ++i) {
      const std::string& from = places.emplace_back(std::to_string(dry[i]->first()));
      const std::string& to = places.emplace_back(std::to_string(dry[i]->first() + count - 1));
      commands.push_back({"LRANGE", dry[i]->key, from, to});
    }
    const std::vector<redis::ReplyCopy> replies = client_.pipeline(commands);
    for (std::size_t i = first; i < end && i - first < replies.size(); ++i) {
      const redis::ReplyCopy& reply = replies[i - first];
      if (reply.is_error()) throw redis::RedisError(reply.text, redis::error_code(reply.text));
      dry[i]->take(reply.elements, count);
      read_ += reply.elements.size();
    }
  }
}

/// While runs end, entries move back: what stands before the one that was read last came in since,
/// or was read before. Where that one is gone, so are all that were older.
void History::Reader::take(const std::vector<redis::ReplyCopy>& entries, std::size_t asked) {
  const std::size_t begin = first();
  std::size_t next = 0;
  if (last) {
    while (next < entries.size() && digest(entries[next].text) != *last) ++next;
    ++next;
  }
  for (; next < entries.size(); ++next) {
    last = digest(entries[next].text);
    if (auto run = run_of(list, entries[next].text, entered); run && entered)
      page.push_back({std::move(*run), {begin + next + 1, *last}});
  }
  at = begin + entries.size();
  at_end = entries.size() < asked;
  std::ranges::reverse(page);
}

}  // namespace w8y::app::look
