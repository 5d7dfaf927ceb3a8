// Header fields of a request: read from the HTTP library, and checked.
#pragma once

#include <cstddef>
#include <string_view>

#include "http/http.hpp"

struct MHD_Connection;

namespace w8y::http {

/// Finds fields that another program, such as a proxy in front, may read in another way: then the
/// two disagree about where the body ends, and a second request can hide in the first.
class HeadCheck {
 public:
  void add(std::string_view name, std::string_view value);
  /// Why the request is refused with 400; nullptr if it is not.
  [[nodiscard]] const char* problem() const;
  /// Number of Host fields.
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
