#include "core/setting_text.hpp"

#include <charconv>
#include <cstdio>

#include "core/config_keys.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace w8y::core {

namespace {

/// Builder of `{ a = 1, b = 2 }`.
class TableText {
 public:
  void add(const std::string& key, const std::string& value) {
    out_ += (out_.empty() ? "{ " : ", ") + key + " = " + value;
  }
  [[nodiscard]] std::string get() const { return out_.empty() ? "{}" : out_ + " }"; }

 private:
  std::string out_;
};

std::string limit_text(const ResourceLimit& limit) {
  if (!limit.value) return quote("unlimited");
  for (const Limit& row : limits) {
    if (row.name != limit.name) continue;
    const auto number = static_cast<Duration::rep>(*limit.value);
    if (row.unit == LimitUnit::size) return quote(format_size(*limit.value));
    if (row.unit == LimitUnit::seconds) return quote(format_duration(std::chrono::seconds(number)));
    if (row.unit == LimitUnit::microseconds) return quote(format_duration(Duration(number)));
  }
  return std::to_string(*limit.value);
}

}  // namespace

std::string as_text(bool flag) {
  return flag ? "true" : "false";
}

std::string as_text(double number) {
  char out[64];
  const auto [end, error] = std::to_chars(out, out + sizeof out, number);
  return {out, error == std::errc{} ? end : out};
}

std::string as_text(Duration duration) {
  return format_duration(duration);
}

std::string as_text(const std::string& text) {
  return text;
}

std::string as_text(const std::vector<std::string>& texts) {
  return quote_all(texts);
}

std::string as_text(const std::vector<int>& numbers) {
  std::string out = "[";
  for (const int number : numbers) out += (out.size() > 1 ? ", " : "") + std::to_string(number);
  return out + "]";
}

std::string as_text(const std::optional<Backoff>& backoff) {
  if (!backoff) return "false";
  TableText out;
  out.add("min", quote(format_duration(backoff->min)));
  out.add("max", quote(format_duration(backoff->max)));
  out.add("factor", as_text(backoff->factor));
  return out.get();
}

std::string as_text(const std::vector<ResourceLimit>& settings) {
  TableText out;
  for (const ResourceLimit& limit : settings) out.add(limit.name, limit_text(limit));
  return out.get();
}

std::string as_text(const std::map<std::string, std::string>& env) {
  TableText out;
  for (const auto& [name, value] : env) out.add(name, hidden);
  return out.get();
}

std::string octal_text(const std::optional<unsigned>& mask) {
  if (!mask) return "";
  char out[16];
  std::snprintf(out, sizeof out, "%03o", *mask);
  return out;
}

UrlParts split_password(std::string_view url) {
  const auto scheme = url.find("://");
  const auto at = url.rfind('@');
  if (scheme == std::string::npos || at == std::string::npos) return {url, {}, {}};
  const auto colon = url.find(':', scheme + 3);
  if (colon == std::string::npos || colon >= at) return {url, {}, {}};
  return {url.substr(0, colon + 1), url.substr(colon + 1, at - colon - 1), url.substr(at)};
}

std::string url_text(std::string_view url) {
  const UrlParts parts = split_password(url);
  std::string text(parts.before);
  if (parts.password) text += hidden;
  return text.append(parts.after);
}

}  // namespace w8y::core
