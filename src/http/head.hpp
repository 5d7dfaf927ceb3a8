// Header fields of a request, read from the HTTP library and checked.
#pragma once

#include <cstddef>
#include <string_view>

#include "http/http.hpp"

struct MHD_Connection;

namespace w8y::http {

/// Check for header fields that another program, such as a reverse proxy, may interpret
/// differently. The two programs would then disagree about the end of the body, and a second
/// request could hide in the first one.
class HeadCheck {
 public:
  void add(std::string_view name, std::string_view value);
  /// Returns why the request is refused with 400, or nullptr if it is not refused.
  [[nodiscard]] const char* problem() const;
  /// Returns the number of Host fields.
  [[nodiscard]] std::size_t hosts() const { return hosts_; }

 private:
  std::size_t hosts_ = 0;
  std::size_t lengths_ = 0;
  std::size_t encodings_ = 0;
  bool bad_name_ = false;
  bool bad_encoding_ = false;
};

/// Fills in the client and its header fields. Returns why the request is refused with 400, or
/// nullptr.
const char* read_fields(MHD_Connection* mhd, HttpRequest& request);

}  // namespace w8y::http
