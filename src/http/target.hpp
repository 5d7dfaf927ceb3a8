// The target of a request ("/api/v1/lists/a%2Fb?x=1"), to and fro.
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
  std::map<std::string, std::string> query;  ///< the first of a name counts
};

/// Splits before it decodes, so that an encoded '/' stays inside its segment and %00 is a byte as
/// any other. nullopt: no path from the root, or a '%' without two hex digits.
std::optional<HttpTarget> parse_target(std::string_view target);

/// Largest number of parameters in the query of a target.
inline constexpr std::size_t max_parameters = 100;
/// Whether the query has more than max_parameters. Decodes nothing.
bool has_too_many_parameters(std::string_view target);

/// All but letters, digits and "-._~" as %XX.
std::string percent_encode(std::string_view bytes);
/// "/" and the encoded segments.
std::string make_path(const std::vector<std::string>& segments);

}  // namespace w8y::http
