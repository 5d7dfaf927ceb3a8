#include "view/fleet_logs.hpp"

#include <algorithm>
#include <utility>

#include "core/json_object.hpp"
#include "view/run_view.hpp"

namespace w8y {

namespace {

using view::JsonFields;

/// Maximum number of bytes of a message; longer messages are ignored.
constexpr std::size_t max_log_message = std::size_t{2} << 20;

std::string line_json(const LogLine& line) {
  core::JsonObject json(64 + line.line.size());
  json.put_bytes("list", line.list);
  json.put("run", line.run);
  json.put_bytes("item", line.item);
  json.put_bytes("line", line.line);
  if (line.cut) json.put_json("truncated", "true");
  return json.finish();
}

std::string updates_json(const LogProgress& news) {
  core::JsonObject json(128 + news.update.size());
  json.put_bytes("list", news.list);
  json.put("run", news.run);
  if (news.progress) {
    json.put_json("numerator", view::real_json(news.progress->numerator));
    json.put_json("denominator", view::real_json(news.progress->denominator));
  }
  if (!news.update.empty()) json.put_json("update", news.update);
  return json.finish();
}

std::string end_json(const LogRunEnd& end) {
  core::JsonObject json(128);
  json.put_bytes("list", end.list);
  json.put("run", end.run);
  json.put("outcome", end.outcome);
  json.put("reason", end.reason);
  return json.finish();
}

}  // namespace

std::string to_text(const LogMessage& message) {
  core::JsonObject json(256);
  json.put("host", message.host);
  if (!message.lines.empty()) json.put_json("lines", core::json_array(message.lines, line_json));
  if (message.left_out > 0) json.put_json("dropped", std::to_string(message.left_out));
  if (!message.updates.empty())
    json.put_json("updates", core::json_array(message.updates, updates_json));
  if (!message.ended.empty()) json.put_json("ended", core::json_array(message.ended, end_json));
  return json.finish();
}

std::optional<LogMessage> parse_log_message(std::string_view text) {
  const auto json = JsonFields::parse(text, max_log_message);
  if (!json) return std::nullopt;
  LogMessage message;
  message.host = json->text("host");
  if (message.host.empty()) return std::nullopt;
  for (const JsonFields& line : json->objects("lines"))
    message.lines.push_back({line.bytes("list").value_or(""), line.text("run"),
                             line.bytes("item").value_or(""), line.bytes("line").value_or(""),
                             line.flag("truncated")});
  for (const JsonFields& news : json->objects("updates"))
    message.updates.push_back({news.bytes("list").value_or(""), news.text("run"),
                               view::read_progress(news),
                               news.has("update") ? news.value("update") : std::string()});
  for (const JsonFields& end : json->objects("ended"))
    message.ended.push_back(
        {end.bytes("list").value_or(""), end.text("run"), end.text("outcome"), end.text("reason")});
  message.left_out = json->number<std::size_t>("dropped");
  return message;
}

// ---- followers

bool LogFollowers::Follower::wants(const RunRef& of) const {
  return of.run.starts_with(run) && (!list || *list == of.prefix);
}

bool LogFollowers::Follower::has_news() const {
  return !message.lines.empty() || message.left_out > 0 || !message.updates.empty() ||
         !message.ended.empty();
}

bool LogFollowers::Follower::begin(std::size_t size, Instant now) {
  if (!has_news()) gathered_since = now;
  if (now - second >= std::chrono::seconds(1)) {
    second = now;
    bytes = lines = 0;
  }
  bytes += size;
  if (++lines <= max_log_lines && bytes <= max_log_bytes) return true;
  ++message.left_out;
  return false;
}

LogFollowers::Followed LogFollowers::follow(const FleetCommand& order, Instant now) {
  const auto known = std::find_if(followers_.begin(), followers_.end(), [&](const Follower& each) {
    return each.listener == order.listener;
  });
  if (known != followers_.end()) {
    known->until = now + log_life;
    return Followed::renewed;
  }
  if (followers_.size() >= max_log_followers) return Followed::too_many;
  Follower& follower = followers_.emplace_back();
  follower.listener = order.listener;
  follower.run = order.run;
  follower.list = order.list;
  follower.until = now + log_life;
  follower.second = now;
  return Followed::added;
}

void LogFollowers::on_output(const RunLogged& said, Instant now) {
  for (Follower& follower : followers_) {
    if (!follower.wants(said.of)) continue;
    const std::string_view told = said.line.substr(0, max_told_line);
    if (!follower.begin(told.size(), now)) continue;
    follower.message.lines.push_back({std::string(said.of.prefix), std::string(said.of.run),
                                      std::string(said.of.item.beginning.substr(0, max_told_item)),
                                      std::string(told),
                                      said.cut || told.size() < said.line.size()});
  }
}

void LogFollowers::updated(const RunUpdated& updated, Instant now) {
  for (Follower& follower : followers_) {
    if (!follower.wants(updated.of)) continue;
    // An update cannot be truncated.
    const bool fits = updated.data.size() <= max_told_update;
    if (follower.begin(fits ? updated.data.size() : max_log_bytes + 1, now))
      follower.message.updates.push_back({std::string(updated.of.prefix),
                                          std::string(updated.of.run), std::nullopt,
                                          std::string(updated.data)});
  }
}

void LogFollowers::progressed(const RunProgressed& progressed, Instant now) {
  for (Follower& follower : followers_) {
    if (!follower.wants(progressed.of)) continue;
    if (!follower.has_news()) follower.gathered_since = now;
    auto& news = follower.message.updates;
    const auto known = std::find_if(news.begin(), news.end(), [&](const LogProgress& each) {
      return each.progress && each.run == progressed.of.run && each.list == progressed.of.prefix;
    });
    if (known != news.end()) {
      known->progress = progressed.progress;
    } else if (news.size() < max_log_lines) {
      news.push_back({std::string(progressed.of.prefix),
                      std::string(progressed.of.run),
                      progressed.progress,
                      {}});
    }
  }
}

void LogFollowers::ended(const RunEnded& ended, Instant now) {
  for (Follower& follower : followers_) {
    if (!follower.wants(ended.of)) continue;
    if (!follower.has_news()) follower.gathered_since = now;
    follower.message.ended.push_back({std::string(ended.of.prefix), std::string(ended.of.run),
                                      outcome_name(ended.outcome), outcome_reason(ended.outcome)});
  }
}

std::vector<LogFollowers::Due> LogFollowers::drain(Instant now) {
  std::vector<Due> due;
  for (Follower& follower : followers_)
    if (follower.has_news())
      due.push_back({follower.listener, std::exchange(follower.message, LogMessage{})});
  std::erase_if(followers_, [now](const Follower& each) { return each.until <= now; });
  return due;
}

std::optional<Instant> LogFollowers::due() const {
  std::optional<Instant> first;
  for (const Follower& follower : followers_) {
    const Instant at =
        follower.has_news() ? follower.gathered_since + log_gathering : follower.until;
    if (!first || at < *first) first = at;
  }
  return first;
}

}  // namespace w8y
