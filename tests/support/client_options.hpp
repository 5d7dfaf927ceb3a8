// Options of a Redis client in a test.
#pragma once

#include <string>

#include "redis/client.hpp"
#include "redis/url.hpp"

namespace w8y::test {

inline redis::ClientOptions options_for(const std::string& url) {
  redis::ClientOptions options;
  options.url = redis::parse_url(url);
  return options;
}

}  // namespace w8y::test
