#include "ops/curl.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <type_traits>

namespace w8y::ops {

namespace {

/// The name in Debian 12 and 13.
constexpr const char* curl_name = "libcurl.so.4";

}  // namespace

const Curl& Curl::get() {
  static const Curl library;
  return library;
}

Curl::Curl() {
  void* library = dlopen(curl_name, RTLD_NOW | RTLD_LOCAL);
  const auto find = [library](auto& function, const char* name) {
    function = library == nullptr
                   ? nullptr
                   : reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (function != nullptr) return;
    const char* why = dlerror();
    throw std::runtime_error("HTTP can't be spoken on this host: " +
                             std::string(why != nullptr ? why : curl_name) + "; install libcurl 4");
  };
  decltype(&curl_global_init) global_init = nullptr;
  find(global_init, "curl_global_init");
  find(easy_init, "curl_easy_init");
  find(easy_cleanup, "curl_easy_cleanup");
  find(easy_reset, "curl_easy_reset");
  find(easy_setopt, "curl_easy_setopt");
  find(easy_getinfo, "curl_easy_getinfo");
  find(easy_perform, "curl_easy_perform");
  find(easy_strerror, "curl_easy_strerror");
  find(slist_append, "curl_slist_append");
  find(slist_free_all, "curl_slist_free_all");
  // No TLS on a unix socket, nor on loopback.
  if (const CURLcode result = global_init(CURL_GLOBAL_NOTHING); result != CURLE_OK)
    throw std::runtime_error(easy_strerror(result));
}

}  // namespace w8y::ops
