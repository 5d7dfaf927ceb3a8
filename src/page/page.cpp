#include "page/page.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/endpoints.hpp"
#include "core/escape.hpp"
#include "http/target.hpp"
#include "view/problems.hpp"

namespace w8y::page {

namespace {

/// Number of lists in one response to a browser without scripts.
constexpr std::size_t max_page_rows = 1000;
/// Maximum number of bytes of a text in the table.
constexpr std::size_t max_text = 300;

/// Content security policy: no resources of other servers, no inline scripts or styles, no
/// embedding in frames, and no markup that scripts make of text.
constexpr const char* policy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Encodes text for HTML: without markup and invisible characters.
std::string as_html(std::string_view text) {
  std::string result;
  for (const char c : escape(text, max_text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

http::HttpResponse page_response(std::string body, std::string_view type) {
  http::HttpResponse response;
  response.body = std::move(body);
  response.content_type = type;
  response.headers = {{"Content-Security-Policy", policy}, {"Referrer-Policy", "no-referrer"}};
  return response;
}

/// The page for browsers without scripts.
class PlainLists {
 public:
  PlainLists(HostStatus host, std::optional<std::string> after)
      : host_(host), problems_(std::move(host)), after_(std::move(after)) {}

  void add(const ListStatus& list) {
    problems_.add(list);
    if (after_ && list.prefix <= *after_) return;
    if (count_ == max_page_rows) {
      more_ = true;
      return;
    }
    ++count_;
    last_ = list.prefix;
    add_row(list);
  }

  [[nodiscard]] std::string add() {
    std::string text =
        "<main><h1>" + as_html(host_.host) + "</h1>\n<p>w8yd " + as_html(host_.version) + ": " +
        state_name(host_.state) +
        ". State at the time of this request; a browser with JavaScript shows live data.</p>\n";
    const auto problems = problems_.drain();
    if (!problems.empty()) text += "<h2>Problems</h2>\n<ul>\n";
    for (const Problem& problem : problems) text += "<li>" + as_html(problem.text) + "</li>\n";
    if (!problems.empty()) text += "</ul>\n";
    text +=
        "<table><caption>Lists</caption>\n<thead><tr><th scope=\"col\">List</th>"
        "<th scope=\"col\">State here</th><th scope=\"col\">Reason here</th>"
        "<th scope=\"col\">Running here</th><th scope=\"col\">Limit here</th>"
        "<th scope=\"col\">Succeeded here</th><th scope=\"col\">Failed here</th>"
        "<th scope=\"col\">Quarantined</th></tr></thead>\n<tbody>\n";
    text += rows_ + "</tbody></table>\n";
    if (more_)
      text += "<p><a href=\"/?after=" + http::percent_encode(last_) + "\">Next lists</a></p>\n";
    return text + "</main>";
  }

 private:
  void add_row(const ListStatus& list) {
    const auto cell = [this](const std::string& text) { rows_ += "<td>" + text + "</td>"; };
    const RunCounters& runs = list.counters;
    rows_ += "<tr><th scope=\"row\"><bdi>" + as_html(list.prefix) + "</bdi></th>";
    cell(state_name(list.state));
    cell(as_html(list.why));
    cell(std::to_string(list.running));
    cell(std::to_string(list.concurrency));
    cell(std::to_string(runs.succeeded));
    cell(std::to_string(runs.failed + runs.crashed + runs.timed_out));
    cell(list.quarantined ? std::to_string(*list.quarantined) : "not known");
    rows_ += "</tr>\n";
  }

  const HostStatus host_;
  Problems problems_;
  const std::optional<std::string> after_;
  std::string rows_;
  std::string last_;
  std::size_t count_ = 0;
  bool more_ = false;
};

void show_page(api::Control& control, const http::HttpRequest& request,
               const http::HttpReplyPtr& reply) {
  control.refresh([&control, reply, after = request.parameter("after")] {
    const auto lists = std::make_shared<PlainLists>(control.status(), after);
    control.each_list([lists](const ListStatus& list) { lists->add(list); },
                      [lists, reply] {
                        std::string body(page_head);
                        body.append(lists->add()).append(page_tail);
                        reply->send(page_response(std::move(body), "text/html; charset=utf-8"));
                      });
  });
}

/// Returns whether a client with this Accept-Encoding header supports gzip: it is named, and its
/// weight is not 0.
bool reads_gzip(std::string_view accepted) {
  while (!accepted.empty()) {
    const auto comma = accepted.find(',');
    std::string_view each = accepted.substr(0, comma);
    accepted.remove_prefix(comma == std::string_view::npos ? accepted.size() : comma + 1);
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!each.empty() && blank(each.front())) each.remove_prefix(1);
    std::string_view name = each.substr(0, each.find(';'));
    std::string_view weight = each.substr(name.size());
    while (!name.empty() && blank(name.back())) name.remove_suffix(1);
    if (name != "gzip" && name != "x-gzip") continue;
    const auto q = weight.find("q=");
    return q == std::string_view::npos ||
           weight.find_first_of("123456789", q) != std::string_view::npos;
  }
  return false;
}

void show_file(const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
  for (const PageFile& file : page_files()) {
    if (file.name != request.path.back()) continue;
    const bool packed = reads_gzip(request.accept_encoding);
    http::HttpResponse response =
        page_response(std::string(packed ? file.packed : file.plain), file.type);
    response.cache = "public, max-age=31536000, immutable";
    response.headers.emplace_back("Vary", "Accept-Encoding");
    if (packed) response.headers.emplace_back("Content-Encoding", "gzip");
    return reply->send(std::move(response));
  }
  reply->send(http::error_response(404, "no such file; open / to load the page again"));
}

}  // namespace

void add_page(http::Router& router, api::Control& control) {
  router.on(api::endpoints::page, std::bind_front(show_page, std::ref(control)));
  router.on(api::endpoints::page_file, show_file);
}

}  // namespace w8y::page
