#include "http/curl.hpp"

#include <stdexcept>
#include <string>

#include "core/optional_library.hpp"

namespace w8y::http {

namespace {

/// Name of the library in Debian 12 and 13.
constexpr const char* curl_name = "libcurl.so.4";

}  // namespace

const Curl& Curl::get() {
  static const Curl library;
  return library;
}

Curl::Curl() try {
  const OptionalLibrary library(curl_name);
  decltype(&curl_global_init) global_init = nullptr;
  library.find(global_init, "curl_global_init");
  library.find(easy_init, "curl_easy_init");
  library.find(easy_cleanup, "curl_easy_cleanup");
  library.find(easy_reset, "curl_easy_reset");
  library.find(easy_setopt, "curl_easy_setopt");
  library.find(easy_getinfo, "curl_easy_getinfo");
  library.find(easy_perform, "curl_easy_perform");
  library.find(easy_strerror, "curl_easy_strerror");
  library.find(slist_append, "curl_slist_append");
  library.find(slist_free_all, "curl_slist_free_all");
  // Neither a unix socket nor the loopback interface needs TLS.
  if (const CURLcode result = global_init(CURL_GLOBAL_NOTHING); result != CURLE_OK)
    throw std::runtime_error(easy_strerror(result));
} catch (const std::runtime_error& error) {
  throw std::runtime_error("the HTTP library cannot be loaded: " + std::string(error.what()) +
                           "; install libcurl 4");
}

}  // namespace w8y::http
