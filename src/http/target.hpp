// Parses and makes targets of requests ("/api/v1/lists/a%2Fb?x=1").
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::http {

struct HttpTarget {
  std::vector<std::string> path;
  std::map<std::string, std::string> query;  ///< the first value of each name
};

/// Parses a target. Splits it before decoding, so that an encoded '/' stays inside its segment and
/// %00 becomes a NUL byte. nullopt: the path does not start at the root, or a '%' is not followed
/// by two hex digits.
std::optional<HttpTarget> parse_target(std::string_view target);

/// Maximum number of parameters in the query of a target.
inline constexpr std::size_t max_parameters = 100;
/// Returns whether the query has more than max_parameters. Decodes nothing.
bool has_too_many_parameters(std::string_view target);

/// Encodes all bytes except letters, digits and "-._~" as %XX.
std::string percent_encode(std::string_view bytes);
/// Returns "/" and the encoded segments.
std::string make_path(const std::vector<std::string>& segments);

}  // namespace w8y::http
