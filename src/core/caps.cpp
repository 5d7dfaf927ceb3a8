#include "core/caps.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "core/json_text.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

namespace w8y {

namespace {

using nlohmann::json;

constexpr unsigned max_at_once = 1'000'000;

ProbeResult read(const json& object) {
  // Executors of superman may omit "type".
  const auto type = object.find("type");
  if (type == object.end() ? !object.contains("caps") : *type != "caps")
    return Ineligibility{R"(its reply to --caps has no "type": "caps")"};
  Caps result;
  const auto caps = object.find("caps");
  if (caps == object.end() || !caps->is_array())
    return Ineligibility{R"("caps" in its reply to --caps is not an array of strings)"};
  for (const json& cap : *caps) {
    if (!cap.is_string())
      return Ineligibility{R"("caps" in its reply to --caps is not an array of strings)"};
    result.caps.push_back(cap.get<std::string>());
  }
  if (const auto concurrency = object.find("concurrency"); concurrency != object.end()) {
    const auto number = read_integer(*concurrency, {1, max_at_once});
    if (!concurrency->is_number_integer() || !number)
      return Ineligibility{R"("concurrency" in its reply to --caps is not a number from 1 to )" +
                           std::to_string(max_at_once)};
    result.concurrency = static_cast<unsigned>(*number);
  }
  if (const auto version = object.find("version"); version != object.end()) {
    if (!version->is_string())
      return Ineligibility{R"("version" in its reply to --caps is not a string)"};
    result.version = version->get<std::string>();
  }
  return result;
}

}  // namespace

bool Caps::has(const std::string& cap) const {
  return std::find(caps.begin(), caps.end(), cap) != caps.end();
}

ProbeResult parse_caps(const std::string& output) {
  const auto begin = output.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return Ineligibility{"the executor printed nothing for --caps"};
  if (const auto error = json_text::error(output)) {
    const auto end = output.find_last_not_of(" \t\r\n");
    return Ineligibility{
        "its reply to --caps is not JSON: " +
        core::quote_start(std::string_view(output).substr(begin, end + 1 - begin)) + " (" + *error +
        ")"};
  }
  const json answer = json::parse(output, nullptr, false);
  if (!answer.is_object()) return Ineligibility{"its reply to --caps is not a JSON object"};
  return read(answer);
}

}  // namespace w8y
