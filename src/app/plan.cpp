#include "app/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "api/endpoints.hpp"
#include "api/secret_json.hpp"
#include "app/probe_lists.hpp"
#include "core/escape.hpp"
#include "core/reload_plan.hpp"
#include "http/client.hpp"
#include "view/json_fields.hpp"

namespace w8y::app {

namespace {

using view::JsonFields;

constexpr int not_reachable = 3;

Settings settings_of(const JsonFields& of, const char* name) {
  Settings settings;
  if (const auto object = of.object(name))
    for (const std::string& key : object->names())
      if (object->is_text(key)) settings[key] = object->text(key);
  return settings;
}

std::optional<ConfigText> read_config(const std::string& body) {
  const auto json = JsonFields::parse(body);
  if (!json || !json->has("lists")) return std::nullopt;
  ConfigText text;
  text.redis = settings_of(*json, "redis");
  text.gearman = settings_of(*json, "gearman");
  text.supervisor = settings_of(*json, "supervisor");
  for (const JsonFields& list : json->objects("lists"))
    if (const auto prefix = list.bytes("list")) text.lists[*prefix] = settings_of(list, "settings");
  return text;
}

std::string random_salt() {
  std::random_device random;
  return std::to_string(random()) + "-" + std::to_string(random()) + "-" +
         std::to_string(random()) + "-" + std::to_string(random());
}

/// Compares the secrets of the config with those of the running w8yd, which does not show its
/// secrets but reports whether each one is the same.
bool compare_secrets(http::HttpClient& client, const ConfigText& running, const Config& config,
                     ReloadPlan& changes) {
  constexpr std::size_t at_once = 1000;  // the server accepts a body of 1 MiB
  const std::string salt = random_salt();
  const auto all = secrets_to_compare(running, config, salt);
  for (std::size_t begin = 0; begin < all.size(); begin += at_once) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = first + static_cast<std::ptrdiff_t>(std::min(at_once, all.size() - begin));
    const std::string question = to_json(api::SecretQuestions{salt, {first, last}});
    const auto answers = api::read_secret_answers(
        client.post(api::endpoints::compare_config.target().text(), question).body);
    if (!answers || answers->size() != static_cast<std::size_t>(last - first)) return false;
    for (std::size_t i = 0; i < answers->size(); ++i)
      if ((*answers)[i] == SecretAnswer::changed) add_changed_secret(changes, all[begin + i]);
  }
  return true;
}

/// Prints the new or changed lists for which this host would be ineligible after the reload.
void print_refusals(const Config& config, const ReloadPlan& changes) {
  std::vector<ListConfigPtr> rules;
  for (const ListChange& change : changes.lists)
    if (change.kind != ListChange::Kind::removed) rules.push_back(config.lists.at(change.prefix));
  const auto answers = probe_all(rules, config.supervisor.probe_timeout);
  for (const ListConfigPtr& rule : rules)
    if (const std::string why = refusal_of(*rule, answers.at(rule->prefix)); !why.empty())
      std::cout << "lists." << escape_text(rule->prefix)
                << ": ineligible on this host: " << escape(why) << '\n';
}

}  // namespace

int plan(const Config& config) {
  const std::string scheme = "unix:";
  std::string address;
  for (const std::string& any : config.supervisor.status)
    if (address.empty() && any.starts_with(scheme)) address = any;
  if (address.empty()) {
    std::cerr << "w8yd: --plan needs a unix socket in [supervisor] status; add one\n";
    return not_reachable;
  }
  http::HttpClient client(address.substr(scheme.size()));
  const http::HttpResult answer = client.get(api::endpoints::config.target().text());
  const auto running = answer.status == 200 ? read_config(answer.body) : std::nullopt;
  if (!running) {
    std::cerr << "w8yd: no w8yd replies at " << escape_text(address)
              << (answer.problem.empty() ? "" : ": " + answer.problem) << '\n';
    return not_reachable;
  }
  ReloadPlan changes = plan_reload(*running, describe(config));
  if (!compare_secrets(client, *running, config, changes))
    std::cerr << "w8yd: cannot compare passwords and env values with the running w8yd; "
                 "changes of these are not shown\n";
  if (changes.empty()) std::cout << "nothing would change\n";
  for (const auto& line : changes.lines()) std::cout << line << '\n';
  print_refusals(config, changes);
  return 0;
}

}  // namespace w8y::app
