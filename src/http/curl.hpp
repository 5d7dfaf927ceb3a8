// libcurl, loaded by the first request. It takes 1.4 MiB of memory with its libraries, and w8yd
// sends a request only if another process has its status address.
#pragma once

#include <curl/curl.h>

namespace w8y::http {

class Curl {
 public:
  /// Throws std::runtime_error that names the package to install.
  static const Curl& get();

  decltype(&curl_easy_init) easy_init;
  decltype(&curl_easy_cleanup) easy_cleanup;
  decltype(&curl_easy_reset) easy_reset;
  decltype(&curl_easy_setopt) easy_setopt;
  decltype(&curl_easy_getinfo) easy_getinfo;
  decltype(&curl_easy_perform) easy_perform;
  decltype(&curl_easy_strerror) easy_strerror;
  decltype(&curl_slist_append) slist_append;
  decltype(&curl_slist_free_all) slist_free_all;

 private:
  Curl();
};

}  // namespace w8y::http
