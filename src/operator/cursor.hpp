// Where an answer of the status API ended, for who asks for the next part. For us to read only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/number.hpp"

namespace w8y::verbs {

/// Fields of any bytes, as text that needs no escaping in a URL. Never empty.
std::string make_cursor(const std::vector<std::string>& fields);
/// So many fields of this kind, or none for an empty text. Throws Refusal for what no answer gave.
std::vector<std::string> read_cursor(const std::string& text, std::string_view kind,
                                     std::size_t fields);
/// A number in a field. Throws Refusal.
std::int64_t cursor_number(const std::string& field, IntegerRange range = count_range);

}  // namespace w8y::verbs
