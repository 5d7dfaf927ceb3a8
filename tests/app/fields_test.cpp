// Each row of src/view is documented: a new field that is missing in a document fails here.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "view/field.hpp"
#include "view/host_view.hpp"
#include "view/item_view.hpp"
#include "view/list_view.hpp"
#include "view/run_record.hpp"

using namespace w8y;

namespace fields_test {
namespace {

using Names = std::vector<std::string_view>;

std::string text_of(const char* name) {
  std::ifstream file(std::string(W8Y_ETC) + "/" + name);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Returns the names that a manual page does not have as a word.
std::string not_in_page(const std::string& page, const Names& names) {
  const auto is_part = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  std::string missing;
  for (const std::string_view name : names) {
    bool found = false;
    for (auto at = page.find(name); at != std::string::npos && !found; at = page.find(name, at + 1))
      found = !is_part(page[at - 1]) && !is_part(page[at + name.size()]);
    if (!found) missing.append(name).append(" ");
  }
  return missing;
}

/// Returns the names that a schema of etc/openapi.json lacks, and its names that are not rows.
std::string not_in_both(const char* schema, const Names& names, const Names& of_others = {}) {
  static const nlohmann::json document = nlohmann::json::parse(text_of("openapi.json"));
  const auto& properties = document["components"]["schemas"][schema]["properties"];
  std::string wrong;
  for (const std::string_view name : names)
    if (!properties.contains(std::string(name))) wrong.append(name).append(" ");
  for (const auto& [property, value] : properties.items()) {
    const std::string base = property.substr(0, property.find("_base64"));
    const auto has = [&base](const Names& all) {
      return std::find(all.begin(), all.end(), base) != all.end();
    };
    if (!has(names) && !has(of_others)) wrong.append("only there: ").append(property).append(" ");
  }
  return wrong;
}

}  // namespace

TEST_CASE("each field of a run record is documented") {
  const Names shown = view::record_names(view::api);
  CHECK(not_in_both("FinishedRun", shown, {"item_length"}) == "");
  CHECK(not_in_both("FinishedRunFound", shown, {"item_length", "state"}) == "");
  CHECK(not_in_page(text_of("man/w8yctl-runs.1"), shown) == "");
  CHECK(not_in_page(text_of("man/w8y-keys.7"), view::record_names(view::event | view::history)) ==
        "");
}

TEST_CASE("each field of a list is documented") {
  CHECK(not_in_both("List", view::list_in_fleet_names()) == "");
  CHECK(not_in_both("ListHere", view::list_names(view::here)) == "");
  CHECK(not_in_both("FleetList", view::list_names(view::fleet)) == "");
  CHECK(not_in_page(text_of("man/w8y-keys.7"), view::list_names(view::report)) == "");
}

TEST_CASE("each field of a host is documented") {
  CHECK(not_in_both("Host", view::host_names(view::api)) == "");
  CHECK(not_in_both("FleetHost", view::host_names(view::fleet),
                    {"lists_error", "lists_truncated", "lists"}) == "");
  CHECK(not_in_page(text_of("man/w8y-keys.7"), view::host_names(view::heartbeat)) == "");
}

TEST_CASE("each field of an item is documented") {
  CHECK(not_in_both("CircularItem", view::item_names(traits_of(SourceKind::circular)),
                    {"item_length"}) == "");
  CHECK(not_in_both("ScheduleJobWithRule", view::item_names(traits_of(SourceKind::schedule)),
                    {"item_length", "description"}) == "");
  CHECK(not_in_both("FeedJob", view::item_names(traits_of(SourceKind::job)),
                    {"item_length", "payload_length"}) == "");
}

}  // namespace fields_test
