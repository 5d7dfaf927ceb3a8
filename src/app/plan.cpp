#include "app/plan.hpp"

#include <iostream>
#include <optional>

#include <w8y/escape.hpp>
#include <w8y/reload_plan.hpp>

#include "ops/http_client.hpp"
#include "ops/status_json.hpp"

namespace w8y::app {

namespace {

constexpr int not_reachable = 3;

Settings settings_of(const ops::Json& object) {
  Settings settings;
  for (const auto& [key, value] : object.items())
    if (value.is_string()) settings[key] = value.get<std::string>();
  return settings;
}

std::optional<ConfigText> read_config(const std::string& body) {
  const auto json = ops::parse(body);
  if (!json || !json->is_object() || !json->contains("lists")) return std::nullopt;
  ConfigText text;
  text.redis = settings_of(json->value("redis", ops::Json::object()));
  text.supervisor = settings_of(json->value("supervisor", ops::Json::object()));
  for (const auto& list : (*json)["lists"])
    if (const auto prefix = ops::get_bytes(list, "prefix"))
      text.lists[*prefix] = settings_of(list.value("settings", ops::Json::object()));
  return text;
}

}  // namespace

int plan(const Config& config) {
  const std::string address =
      config.supervisor.status.empty() ? std::string() : config.supervisor.status.front();
  const std::string scheme = "unix:";
  if (!address.starts_with(scheme)) {
    std::cerr << "w8yd: the config names no unix socket under [supervisor] status\n";
    return not_reachable;
  }
  ops::HttpClient client(address.substr(scheme.size()));
  const ops::HttpResult answer = client.get("/api/v1/config");
  const auto running = answer.status == 200 ? read_config(answer.body) : std::nullopt;
  if (!running) {
    std::cerr << "w8yd: no running w8yd answers at " << escape_text(address)
              << (answer.problem.empty() ? "" : ": " + answer.problem) << '\n';
    return not_reachable;
  }
  const ReloadPlan changes = plan_reload(*running, describe(config));
  if (changes.empty()) std::cout << "nothing would change\n";
  for (const auto& line : changes.lines()) std::cout << line << '\n';
  return 0;
}

}  // namespace w8y::app
