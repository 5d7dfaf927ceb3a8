// Endpoint of an HTTP API. A router serves it, and a client requests it.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace w8y::http {

/// Target of a request: the path and the query. Only Endpoint::target() makes one.
class Target {
 public:
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend struct Endpoint;
  explicit Target(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

struct Endpoint {
  enum class Others { refused, ignored };
  using Parameter = std::pair<std::string_view, std::optional<std::string_view>>;

  const char* method;
  const char* pattern;  ///< path such as "/api/v1/lists/*"; "*" matches any single segment
  std::array<const char*, 8> parameters = {};  ///< names of the parameters, up to the first nullptr
  Others others = Others::refused;             ///< whether other parameters are refused
  std::size_t max_body = 0;  ///< bytes; 0: the limit of the server; a lower limit has no effect

  [[nodiscard]] bool has_parameter(std::string_view name) const;
  /// Returns the target in which `segments` replace each "*". A parameter with the value nullopt is
  /// omitted. Throws std::logic_error if this endpoint has no such parameter, or another number of
  /// segments.
  [[nodiscard]] Target target(std::initializer_list<std::string_view> segments = {},
                              std::initializer_list<Parameter> query = {}) const;
};

}  // namespace w8y::http
