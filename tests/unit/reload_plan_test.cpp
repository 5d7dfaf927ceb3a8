#include "core/reload_plan.hpp"

#include <doctest/doctest.h>

#include "core/served_list.hpp"
#include "parse.hpp"
#include "source/circular/source.hpp"

using namespace w8y;

TEST_CASE("a reload plan has a line per change, and none without changes") {
  ConfigText before;
  before.lists["a"] = {{"concurrency", "1"}, {"timeout", "0s"}};
  before.lists["gone"] = {};
  before.redis = {{"url", "redis://a"}};
  ConfigText after = before;
  CHECK(plan_reload(before, after).empty());
  after.lists.erase("gone");
  after.lists["new"] = {};
  after.lists["a"]["concurrency"] = "4";
  after.redis["url"] = "redis://b";
  CHECK(plan_reload(before, after).lines() ==
        std::vector<std::string>{"redis: url: redis://a -> redis://b",
                                 "lists.a: concurrency: 1 -> 4",
                                 "lists.gone: removed, its runs finish", "lists.new: added"});
}

namespace reload_plan_test {
namespace {
Config config_of(std::initializer_list<std::pair<const char*, unsigned>> lists) {
  Config config;
  config.supervisor.host = "here";
  for (const auto& [prefix, concurrency] : lists) {
    auto rule = std::make_shared<ListConfig>();
    rule->prefix = prefix;
    rule->concurrency = concurrency;
    config.lists.emplace(prefix, std::move(rule));
  }
  return config;
}
}  // namespace

TEST_CASE("a reload plan is the same for two configs and for their descriptions") {
  const Config before = config_of({{"a", 1}, {"b", 1}, {"d", 1}});
  Config after = config_of({{"a", 1}, {"b", 2}, {"c", 1}, {"e", 1}});
  after.redis.idle_commands = 7;
  const auto lines = plan_reload(before, after).lines();
  CHECK(lines == std::vector<std::string>{
                     "redis: idle_commands: 100 -> 7", "lists.b: concurrency: 1 -> 2",
                     "lists.d: removed, its runs finish", "lists.c: added", "lists.e: added"});
  CHECK(lines == plan_reload(describe(before), describe(after)).lines());
  CHECK(plan_reload(before, before).empty());
}

TEST_CASE("unchanged lists of a reloaded config keep their list config objects") {
  const Config before = config_of({{"a", 1}, {"b", 1}, {"d", 1}});
  Config after = config_of({{"a", 1}, {"b", 2}, {"c", 1}, {"d", 1}});
  keep_unchanged(before, after);
  CHECK(after.lists.at("a") == before.lists.at("a"));
  CHECK(after.lists.at("d") == before.lists.at("d"));
  CHECK(after.lists.at("b")->concurrency == 2);
  CHECK(after.lists.at("c")->prefix == "c");
}

TEST_CASE("a list that differs only in settings derived from other lists has no line in the plan") {
  const auto config = [](const char* queues) {
    const std::string list =
        "source = \"schedule\"\ncommand = [\"x\", \"{}\"]\nkey_prefix = \"bike\"\n";
    return test::parse("[lists.pages]\n" + list + "queues = \"P\"\n[lists.mails]\n" + list +
                       "queues = \"" + queues + "\"\n");
  };
  const Config before = config("M");
  const Config after = config("M:N");
  const ReloadPlan plan = plan_reload(before, after);
  CHECK(plan.lines() == std::vector<std::string>{"lists.mails: queues: M -> M:N"});
  CHECK(plan.lists.size() == 1);
  CHECK(differing_lists(before, after) == std::vector<std::string>{"mails", "pages"});
  CHECK(differing_lists(before, config("M")).empty());
}

TEST_CASE("settings shared by list configs are copied when one of them changes") {
  ListConfig first;
  ListConfig second = first;
  CHECK(&*first.child == &*second.child);
  second.child.edit().cwd = "/tmp";
  CHECK(first.child->cwd == "/");
  CHECK(ListConfig().child->cwd == "/");
  CHECK(first != second);
  const ListConfig third = second;
  second.child.edit().cwd = "/";
  CHECK(third.child->cwd == "/tmp");
  CHECK(first == second);
}

TEST_CASE("equal settings of list configs are in memory once, but change separately") {
  ListConfig first;
  first.command = {"/bin/convert", "{}"};
  first.child.edit().cwd = "/srv";
  ListConfig second;
  second.command = {"/bin/convert", "{}"};
  second.child.edit().cwd = "/tmp";
  CHECK(&*first.command != &*second.command);
  second.share(first);
  CHECK(&*first.command == &*second.command);
  CHECK(second.child->cwd == "/tmp");
  second.command.edit().emplace_back("-v");
  CHECK(first.command->size() == 2);
  CHECK(second.command->size() == 3);
  CopyOnWrite<std::string> text = "a";
  const CopyOnWrite<std::string> same = text;
  text = "";
  CHECK(*same == "a");
  CHECK(text == CopyOnWrite<std::string>());
}

TEST_CASE("equal lists of one config file share their settings") {
  const Config config = test::parse(
      "[lists.a]\ncommand = [\"/bin/convert\", \"{}\"]\nenv = { A = \"1\" }\n"
      "[lists.b]\ncommand = [\"/bin/convert\", \"{}\"]\nenv = { A = \"1\" }\n");
  CHECK(&*config.lists.at("a")->command == &*config.lists.at("b")->command);
  CHECK(&*config.lists.at("a")->child == &*config.lists.at("b")->child);
}

TEST_CASE("objects per idle list are small") {
  CHECK(sizeof(ListConfig) <= 248);
  CHECK(sizeof(Poller) <= 232);
  CHECK(sizeof(ServedList) <= 152);
  CHECK(sizeof(source::CircularSource) <= 240);
  CHECK(sizeof(IdlePolls::Sleeper) <= 56);
}

}  // namespace reload_plan_test
