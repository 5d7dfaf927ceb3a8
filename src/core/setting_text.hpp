// Settings as text that may be shown, in the form of the config.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/list_config.hpp"

namespace w8y::core {

/// Replaces a secret.
inline constexpr const char* hidden = "(hidden)";

template <std::integral T>
std::string as_text(T number) {
  return std::to_string(number);
}
std::string as_text(bool flag);
std::string as_text(double number);
std::string as_text(Duration duration);
/// Returns the text unchanged, without quotes.
std::string as_text(const std::string& text);
std::string as_text(const std::vector<std::string>& texts);
std::string as_text(const std::vector<int>& numbers);
/// Returns "false" if there is none.
std::string as_text(const std::optional<Backoff>& backoff);
std::string as_text(const std::vector<ResourceLimit>& limits);
/// Returns the names, with each value hidden.
std::string as_text(const std::map<std::string, std::string>& env);
/// Returns an empty text if it is not set.
template <class T>
std::string as_text(const std::optional<T>& setting) {
  return setting ? as_text(*setting) : "";
}
/// Returns a text such as "022".
std::string octal_text(const std::optional<unsigned>& mask);

/// The parts of a URL around its password. Everything before the last '@' counts as user and
/// password, even if the URL is invalid: hiding too much is safer than hiding too little.
struct UrlParts {
  std::string_view before;
  std::optional<std::string_view> password;
  std::string_view after;
};
UrlParts split_password(std::string_view url);
/// Hides the password of a URL, but not the user name.
std::string url_text(std::string_view url);

}  // namespace w8y::core
