// Members of a JSON object that others wrote. A member that is missing or has another type is
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
  /// As JsonObject::put_bytes() writes them. nullopt: neither form is there, or both are.
  [[nodiscard]] std::optional<std::string> bytes(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name,
                                                    IntegerRange range) const;
  /// A count. 0 if the number is negative, or if the type or a double does not hold it exactly.
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
  /// Returns the number of elements of an array; 0 if the value is no array.
  [[nodiscard]] std::size_t count(std::string_view name) const;
  /// The texts of an array; its other elements are left out.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  [[nodiscard]] std::optional<JsonFields> object(std::string_view name) const;
  /// The objects of an array; its other elements are left out.
  [[nodiscard]] std::vector<JsonFields> objects(std::string_view name) const;
  /// Names of the members, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  /// A value as JSON, in ASCII; "null" where it is not there.
  [[nodiscard]] std::string value(std::string_view name) const;
  /// The text that was parsed, on one line in ASCII: fit for a terminal.
  [[nodiscard]] std::string whole() const;
  /// The same with another value of one of its members.
  [[nodiscard]] std::string whole_with(std::string_view name, std::string_view value) const;

 private:
  struct Document;
  JsonFields(std::shared_ptr<const Document> document, const void* object)
      : document_(std::move(document)), object_(object) {}

  std::shared_ptr<const Document> document_;
  const void* object_;  ///< in the document
};

/// A number as JSON: "2.5", "3.0".
std::string real_json(double number);

}  // namespace w8y::view
