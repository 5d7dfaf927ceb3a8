// The page that an operator opens in a browser: files of etc/page, which the build embeds.
#pragma once

#include <string_view>
#include <vector>

#include "api/control.hpp"
#include "http/http.hpp"

namespace w8y::page {

struct PageFile {
  std::string_view name;  ///< contains a digest of all files
  std::string_view type;
  std::string_view plain;
  std::string_view packed;  ///< compressed with gzip
};

// Made by the build.
const std::vector<PageFile>& page_files();
extern const std::string_view page_mark;  ///< the digest
extern const std::string_view page_head;  ///< of index.html, before the lists
extern const std::string_view page_tail;

/// Adds these routes to `router`, which `control` must outlive:
///   GET  /             the page; a browser without scripts receives the current lists, 1,000 at a
///                      time (?after=PREFIX)
///   GET  /page/{name}  the files of the page
void add_page(http::Router& router, api::Control& control);

}  // namespace w8y::page
