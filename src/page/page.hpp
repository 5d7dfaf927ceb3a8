// The page that a person opens in a browser: files of etc/page, which the build puts in here.
#pragma once

#include <string_view>
#include <vector>

#include "api/control.hpp"
#include "http/http.hpp"

namespace w8y::page {

struct PageFile {
  std::string_view name;  ///< with a digest of all files in it
  std::string_view type;
  std::string_view plain;
  std::string_view packed;  ///< by gzip
};

// Made by the build.
const std::vector<PageFile>& page_files();
extern const std::string_view page_mark;  ///< the digest
extern const std::string_view page_head;  ///< of index.html: what stands before the lists
extern const std::string_view page_tail;

/// Adds to `router`, which `control` outlives:
///   GET  /             the page; for a browser without scripts with the lists as they are now, a
///                      thousand at a time (?after=PREFIX)
///   GET  /page/{name}  its files
void add_page(http::Router& router, api::Control& control);

}  // namespace w8y::page
