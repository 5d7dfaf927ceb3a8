// Members of a JSON object from another program. A member that is missing or has another type is
// empty, 0 or nullopt.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/number.hpp"

namespace w8y::view {

class JsonFields {
 public:
  /// nullopt: not a JSON object in UTF-8, nested too deeply (json_text::max_depth), or longer than
  /// `most` bytes.
  static std::optional<JsonFields> parse(std::string_view text,
                                         std::size_t most = std::string::npos);

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;
  /// Reads the output of JsonObject::put_bytes(). nullopt: neither form exists, or both do.
  [[nodiscard]] std::optional<std::string> bytes(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name,
                                                    IntegerRange range) const;
  /// Returns a count. 0 if the number is negative, or if the type or a double does not hold it
  /// exactly.
  template <typename Number>
  [[nodiscard]] Number number(std::string_view name) const {
    return static_cast<Number>(
        integer(name, {0, std::min(range_of<Number>.max, count_range.max)}).value_or(0));
  }
  [[nodiscard]] std::optional<double> real(std::string_view name) const;
  [[nodiscard]] std::optional<WallTime> ms(std::string_view name,
                                           IntegerRange range = ms_range) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] bool is_text(std::string_view name) const;
  [[nodiscard]] bool is_flag(std::string_view name) const;
  [[nodiscard]] bool is_array(std::string_view name) const;
  /// Returns the number of elements of an array; 0 for any other value.
  [[nodiscard]] std::size_t count(std::string_view name) const;
  /// Returns the texts of an array and omits other elements.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  [[nodiscard]] std::optional<JsonFields> object(std::string_view name) const;
  /// Returns the objects of an array and omits other elements.
  [[nodiscard]] std::vector<JsonFields> objects(std::string_view name) const;
  struct Element;
  /// Returns all elements of an array, in its order; empty for any other value.
  [[nodiscard]] std::vector<Element> elements(std::string_view name) const;
  /// Returns the names of the members, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns a value as JSON, in ASCII; "null" if the member is missing.
  [[nodiscard]] std::string value(std::string_view name) const;
  /// Returns the parsed text on one line of ASCII, fit for a terminal.
  [[nodiscard]] std::string whole() const;
  /// Returns the text of whole() with another value for one member.
  [[nodiscard]] std::string whole_with(std::string_view name, std::string_view value) const;

 private:
  struct Document;
  JsonFields(std::shared_ptr<const Document> document, const void* object)
      : document_(std::move(document)), object_(object) {}

  std::shared_ptr<const Document> document_;
  const void* object_;  ///< in the document
};

/// Element of an array: a string, an object, or neither if it is of another type.
struct JsonFields::Element {
  std::optional<std::string> text;
  std::optional<JsonFields> object;
};

/// Returns a number as JSON: "2.5", "3.0".
std::string real_json(double number);

}  // namespace w8y::view
