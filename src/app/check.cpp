#include "app/check.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "app/probe_lists.hpp"
#include "config/loading.hpp"
#include "core/escape.hpp"
#include "core/limit_check.hpp"
#include "executor/executor_factory.hpp"
#include "loop/loop.hpp"
#include "process/host_limits.hpp"
#include "redis/server_info.hpp"
#include "redis/sync.hpp"
#include "store/rights.hpp"

namespace w8y::app {

namespace {

constexpr int lists_refused = 1;

/// Returns why Redis does not report changes of keys; empty: it does.
std::string tracking_refusal(redis::SyncClient& client) {
  const auto replies = client.pipeline({{"CLIENT", "ID"},
                                        {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"},
                                        {"CLIENT", "CACHING", "YES"}});
  const auto refused = std::ranges::find_if(replies, &redis::ReplyCopy::is_error);
  return refused == replies.end() ? std::string() : refused->text;
}

/// Returns why Redis refuses the scripts that every list in Redis needs; empty: it does not refuse
/// them. Prints which risks of Redis can give an item two holders, and why Redis does not report
/// changes of keys. Throws RedisError if Redis does not reply.
std::string script_refusal(const RedisSettings& settings) {
  // SHA-1 of the script. EVAL loads the script, so that EVALSHA finds it.
  constexpr const char* script = "return 1";
  constexpr const char* digest = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
  redis::ClientOptions options = config::client_options(settings, "w8yd-check");
  loop::Loop loop;
  redis::SyncClient client(loop, options);
  client.give_up_at(loop.now() + options.connect_timeout);
  const auto replies = client.pipeline({{"INFO"}, {"EVAL", script, "0"}, {"EVALSHA", digest, "0"}});
  const auto info = redis::parse_server_info(replies[0].is_error() ? "" : replies[0].text);
  const bool sentinel = options.url.kind == redis::Url::Kind::sentinel;
  for (const auto& sentence : redis::doubling_risks(info, options.url.to_string(), sentinel))
    std::cerr << "w8yd: warning: " << escape(sentence) << '\n';
  if (const std::string why = tracking_refusal(client); !why.empty())
    std::cerr << "w8yd: warning: items that other clients add are found only at the next poll: "
              << escape(why) << '\n';
  for (const auto& reply : replies)
    if (reply.is_error() && store::forbids_scripts(reply.text))
      return store::with_remedy(reply.text, options.url.user);
  return {};
}

/// Returns the same for all lists of a config. Prints a warning if Redis does not reply, because
/// the host may be set up before its Redis.
std::string script_refusal(const Config& config) {
  const bool used = std::any_of(config.lists.begin(), config.lists.end(), [](const auto& list) {
    return list.second->enabled && list.second->traits().in_redis;
  });
  // The default URL is not checked: a config without a URL does not show that there is a Redis.
  if (!used || !config.has_redis || config.redis.url == RedisSettings{}.url) return {};
  try {
    return script_refusal(config.redis);
  } catch (const redis::RedisError& error) {
    std::cerr << "w8yd: permissions in Redis not checked: " << escape(error.what()) << '\n';
    return {};
  }
}

std::string refusal(const ListConfig& rule, const ProbeResult& result,
                    const std::string& of_scripts) {
  std::string why = refusal_of(rule, result);
  if (why.empty() && rule.enabled && rule.traits().in_redis) why = of_scripts;
  return why;
}

std::string verdict(const ListConfig& rule, const ProbeResult& result,
                    const std::string& of_scripts) {
  if (const std::string why = refusal(rule, result, of_scripts); !why.empty())
    return "ineligible: " + escape(why);
  const auto& caps = std::get<Caps>(result);
  if (!rule.enabled) return "disabled: enabled = false";
  if (rule.concurrency == 0) return "disabled: concurrency = 0";
  std::string text = "runs, " + std::to_string(rule.concurrency) + " at once";
  if (caps.caps.empty()) return text;
  text += ", capabilities:";
  for (const auto& cap : caps.caps) text += " " + escape_text(cap);
  return text;
}

}  // namespace

int check(const Config& config, bool strict) {
  std::vector<ListConfigPtr> all;
  for (const auto& [prefix, rule] : config.lists) all.push_back(rule);
  const auto answers = probe_all(all, config.supervisor.probe_timeout);

  const std::string of_scripts = script_refusal(config);
  for (const auto& warning : config.warnings) std::cerr << "w8yd: " << warning << '\n';
  std::vector<ListNeed> served;
  for (const ListConfigPtr& rule : all) {
    const ProbeResult& answer = answers.at(rule->prefix);
    if (refusal(*rule, answer, of_scripts).empty())
      served.push_back({rule, executor::serves_stream(*rule, std::get<Caps>(answer))});
  }
  for (const auto& line : shortfalls(served, config.supervisor, process::host_limits()))
    std::cerr << "w8yd: " << line << '\n';
  for (const ListConfigPtr& rule : all) {
    const std::string& program = rule->program();
    std::cout << escape_text(rule->prefix) << ": " << escape_text(program) << ": "
              << verdict(*rule, answers.at(rule->prefix), of_scripts) << '\n';
  }
  return strict && served.size() < all.size() ? lists_refused : 0;
}

}  // namespace w8y::app
