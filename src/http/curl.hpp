// libcurl, loaded by the first request: with the libraries that it brings it takes 1.4 MiB of
// memory, and w8yd makes no request unless another one is where it is to be.
#pragma once

#include <curl/curl.h>

namespace w8y::http {

class Curl {
 public:
  /// Throws std::runtime_error, which says what to install.
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
