// Settings as text that may be shown, in the form in which the configuration has them.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/list_config.hpp"

namespace w8y::core {

/// In place of a secret.
inline constexpr const char* hidden = "(hidden)";

template <std::integral T>
std::string as_text(T number) {
  return std::to_string(number);
}
std::string as_text(bool flag);
std::string as_text(double number);
std::string as_text(Duration duration);
/// Without quotes, as it is.
std::string as_text(const std::string& text);
std::string as_text(const std::vector<std::string>& texts);
std::string as_text(const std::vector<int>& numbers);
/// "false" if there is none.
std::string as_text(const std::optional<Backoff>& backoff);
std::string as_text(const std::vector<ResourceLimit>& limits);
/// The names, with each value hidden.
std::string as_text(const std::map<std::string, std::string>& env);
/// Empty if it is not set.
template <class T>
std::string as_text(const std::optional<T>& setting) {
  return setting ? as_text(*setting) : "";
}
/// "022"
std::string octal_text(const std::optional<unsigned>& mask);

/// A URL around its password. What stands before the last '@' counts as user and password even if
/// that is no right URL: better too much hidden than too little.
struct UrlParts {
  std::string_view before;
  std::optional<std::string_view> password;
  std::string_view after;
};
UrlParts split_password(std::string_view url);
/// The password in it is hidden; the user's name is not.
std::string url_text(std::string_view url);

}  // namespace w8y::core
