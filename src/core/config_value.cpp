#include "core/config_value.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "core/text.hpp"
#include "core/units.hpp"

namespace w8y::core {

namespace {

std::string number(double value) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  if (error != std::errc{}) return "a number";
  std::string out(text, end);
  // A floating-point number must not look like an integer: 4.0, not 4.
  if (std::isfinite(value) && out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string kind_name(Node::Kind kind) {
  constexpr std::array names = {"a string",      "an integer",     "a number with decimals",
                                "true or false", "a date or time", "an array",
                                "a table"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string range_text(const std::string& min, const std::string& max) {
  return "from " + min + " to " + max;
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

}  // namespace

std::string ConfigValue::path() const {
  if (parent_ == nullptr) return "";
  std::string path = parent_->path();
  if (parent_->node_->kind == Node::Kind::array) {
    const auto index = node_ - parent_->node_->items.data();
    return path + '[' + std::to_string(index) + ']';
  }
  if (!path.empty()) path += '.';
  return path + quote_key(node_->key);
}

std::string ConfigValue::found() const {
  if (!secret_) {
    if (node_->kind == Node::Kind::text) return quote_start(node_->text);
    if (node_->kind == Node::Kind::integer) return std::to_string(node_->integer);
    if (node_->kind == Node::Kind::real) return number(node_->real);
    if (node_->kind == Node::Kind::flag) return node_->flag ? "true" : "false";
  }
  return kind_name(node_->kind);
}

void ConfigValue::report(Place place, const std::string& text) const {
  reading_->errors.push_back({*file_, place.line, place.column, path(), text});
}

void ConfigValue::warn(const std::string& text) const {
  const Place place = node_->key.empty() && parent_ == nullptr ? node_->place : node_->key_place;
  const ConfigDiagnostic as_error{*file_, place.line, place.column, path(), text};
  reading_->warnings.push_back(as_error.to_string());
}

bool ConfigValue::flag(bool& into) const {
  if (node_->kind != Node::Kind::flag) {
    must_be("true or false, without quotes");
    return false;
  }
  into = node_->flag;
  return true;
}

bool ConfigValue::integer_in(std::int64_t& into, std::int64_t min, std::int64_t max) const {
  if (node_->kind != Node::Kind::integer || node_->integer < min || node_->integer > max) {
    must_be("an integer " + range_text(std::to_string(min), std::to_string(max)));
    return false;
  }
  into = node_->integer;
  return true;
}

bool ConfigValue::real(double& into, double min, double max) const {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (node_->kind == Node::Kind::integer) value = static_cast<double>(node_->integer);
  if (node_->kind == Node::Kind::real) value = node_->real;
  // This comparison rejects NaN.
  if (!(value >= min && value <= max)) {
    must_be("a number " + range_text(number(min), number(max)));
    return false;
  }
  into = value;
  return true;
}

bool ConfigValue::duration(Duration& into, Duration min) const {
  std::optional<Duration> value;
  constexpr double most = 100.0 * 365 * 86400;  // as in parse_duration()
  if (node_->kind == Node::Kind::text) value = parse_duration(node_->text);
  if (node_->kind == Node::Kind::integer) value = parse_duration(std::to_string(node_->integer));
  if (node_->kind == Node::Kind::real && node_->real >= 0 && node_->real <= most) {
    value = Duration(static_cast<Duration::rep>(std::ceil(node_->real * 1e6)));
  }
  if (!value) {
    must_be("a duration such as \"250ms\", \"5s\" or \"1h30m\", or a number of seconds");
    return false;
  }
  if (*value < min) {
    must_be("at least " + quote(format_duration(min)));
    return false;
  }
  into = *value;
  return true;
}

bool ConfigValue::size(std::uint64_t& into, std::uint64_t min, std::uint64_t max) const {
  std::optional<std::uint64_t> value;
  if (node_->kind == Node::Kind::text) value = parse_size(node_->text);
  if (node_->kind == Node::Kind::integer && node_->integer >= 0) {
    value = static_cast<std::uint64_t>(node_->integer);
  }
  if (!value) {
    must_be("a size such as \"64KiB\", \"2GiB\" or \"10MB\", or a number of bytes");
    return false;
  }
  if (*value < min || *value > max) {
    must_be(range_text(quote(format_size(min)), quote(format_size(max))));
    return false;
  }
  into = *value;
  return true;
}

bool ConfigValue::text(std::string& into, const std::string& what) const {
  if (node_->kind != Node::Kind::text || node_->text.empty()) {
    must_be(what);
    return false;
  }
  if (has_nul(node_->text)) {
    wrong("contains a NUL byte; must be " + what + " without one");
    return false;
  }
  into = node_->text;
  return true;
}

bool ConfigValue::path(std::string& into) const {
  std::string value;
  if (!text(value, "an absolute path")) return false;
  if (value.front() != '/') {
    must_be("an absolute path, which starts with /");
    return false;
  }
  into = std::move(value);
  return true;
}

bool ConfigValue::trusted_path(std::string& into, IfMissing if_missing) const {
  std::string value;
  if (!path(value)) return false;
  if (reading_->root) {
    std::string problem;
    if (if_missing == IfMissing::error) problem = reading_->host.missing(value);
    if (problem.empty()) problem = reading_->host.distrust(value);
    if (!problem.empty()) {
      wrong(quote_start(value) + " " + problem);
      return false;
    }
  }
  into = std::move(value);
  return true;
}

bool ConfigValue::secret_path(std::string& into) const {
  if (!trusted_path(into)) return false;
  warn_if_exposed(into);
  return true;
}

void ConfigValue::warn_if_exposed(const std::string& path) const {
  const std::string mode = reading_->host.exposed(path);
  if (!mode.empty())
    warn(quote_start(path) + " holds a secret and has mode " + mode +
         ", so every user can read it; chmod o-r it");
}

bool ConfigValue::texts(std::vector<std::string>& into, const std::string& what,
                        bool may_be_empty) const {
  if (node_->kind != Node::Kind::array) {
    must_be("an array of " + what + ", such as [\"…\", \"…\"]");
    return false;
  }
  std::vector<std::string> values;
  bool right = true;
  for (const Node& item : node_->items) {
    const ConfigValue value = member(item);
    std::string one;
    if (may_be_empty && item.kind == Node::Kind::text && item.text.empty()) {
      values.emplace_back();
    } else if (value.text(one, "a string")) {
      values.push_back(std::move(one));
    } else {
      right = false;
    }
  }
  if (right) into = std::move(values);
  return right;
}

bool ConfigValue::is_table() const {
  if (node_->kind == Node::Kind::table) return true;
  must_be("a table");
  return false;
}

void ConfigValue::must_be_one_of(const std::vector<std::string_view>& names) const {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += quote(names[i]);
  }
  must_be(text);
}

}  // namespace w8y::core
