// Cursors of the status API: positions at which the next page starts. Only w8y reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/number.hpp"

namespace w8y::verbs {

/// Encodes fields of any bytes as text that needs no escaping in a URL. Never empty.
std::string make_cursor(const std::vector<std::string>& fields);
/// Returns the fields of a cursor of this kind, or no fields for an empty text. Throws QueryError
/// for a text that make_cursor() did not write.
std::vector<std::string> read_cursor(const std::string& text, std::string_view kind,
                                     std::size_t fields);
/// Returns the number in a field. Throws QueryError.
std::int64_t cursor_number(const std::string& field, IntegerRange range = count_range);

}  // namespace w8y::verbs
