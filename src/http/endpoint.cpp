#include "http/endpoint.hpp"

#include <algorithm>
#include <stdexcept>

#include "http/target.hpp"

namespace w8y::http {

bool Endpoint::has_parameter(std::string_view name) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [name](const char* each) { return each != nullptr && name == each; });
}

Target Endpoint::target(std::initializer_list<std::string_view> segments,
                        std::initializer_list<Parameter> query) const {
  std::string text;
  const auto* segment = segments.begin();
  for (const char c : std::string_view(pattern)) {
    if (c != '*') {
      text += c;
    } else if (segment != segments.end()) {
      text += percent_encode(*segment++);
    } else {
      throw std::logic_error(std::string(pattern) + " needs more segments");
    }
  }
  if (segment != segments.end())
    throw std::logic_error(std::string(pattern) + " has fewer segments");
  char separator = '?';
  for (const auto& [name, value] : query) {
    if (!value) continue;
    if (!has_parameter(name))
      throw std::logic_error(std::string(pattern) + " has no parameter " + std::string(name));
    text.append(1, separator).append(name).append("=").append(percent_encode(*value));
    separator = '&';
  }
  return Target(std::move(text));
}

}  // namespace w8y::http
