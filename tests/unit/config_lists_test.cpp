// Config of lists: keys, inheritance from [defaults], and combinations that are errors.
#include <doctest/doctest.h>

#include "core/schedule_settings.hpp"
#include "parse.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("the name of a list needs a hash tag if Redis is a cluster") {
  const std::string cluster = "[redis]\nurl = \"redis+cluster://a,b\"\n";
  for (const char* prefix : {"work", "{}", "{work", "}work{", "{}{work}", ""}) {
    CAPTURE(prefix);
    const Lines lines = errors_in(cluster + "[lists.\"" + prefix + "\"]\ncommand = [\"true\"]\n");
    REQUIRE_FALSE(lines.empty());
    CHECK(has(lines[0], "has no hash tag"));
  }
  for (const char* prefix : {"{work}", "a{b}c", "{a}{}"}) {
    CAPTURE(prefix);
    CHECK(errors_in(cluster + "[lists.\"" + prefix + "\"]\ncommand = [\"true\"]\n").empty());
  }
  const std::string schedule = "]\nsource = \"schedule\"\nqueues = \"A\"\ncommand = [\"true\"]\n";
  CHECK(errors_in(cluster + "[lists.mix" + schedule) ==
        Lines{"c:3:8: lists.mix: has no hash tag, and in a cluster all keys of a list must share a "
              "hash slot; must have a name such as [lists.\"{mix}\"] (the keys are then "
              "\"{mix}-timeline\" "
              "and so "
              "on)"});
  CHECK(errors_in(cluster + "[lists.\"{mix}\"" + schedule).empty());
}

TEST_CASE("if Redis is a cluster, the key prefix needs a hash tag, but the name does not") {
  const auto errors = [](const std::string& name, const std::string& prefix) {
    return errors_in("[redis]\nurl = \"redis+cluster://a,b\"\n[lists.\"" + name +
                     "\"]\nsource = \"schedule\"\nqueues = \"A\"\ncommand = [\"true\"]\n"
                     "key_prefix = \"" +
                     prefix + "\"\n");
  };
  CHECK(errors("mix", "{mix}").empty());
  CHECK(errors("{mix}", "mix") ==
        Lines{"c:7:14: lists.\"{mix}\".key_prefix: has no hash tag, and in a cluster all keys of a "
              "list must share a hash slot; must be a key prefix such as \"{mix}\""});
}

TEST_CASE("a list has either an executor or a command") {
  CHECK(errors_in("[lists.w]\ncommand = [\"convert\", \"{}\", \"\"]\n").empty());
  CHECK(errors_in("[lists.w]\n") ==
        Lines{"c:1:8: lists.w: has neither executor nor command; must have executor = "
              "\"/absolute/path\", or command = [\"program\", \"{}\"]"});
  CHECK(errors_in("[lists.w]\ncommand = [\"x\"]\nexecutor = \"/x\"\n").size() == 1);
  // An invalid executor or command causes one error. It is not reported as missing, too.
  CHECK(errors_in("[lists.w]\nexecutor = 3\n").size() == 1);
  CHECK(errors_in("[lists.w]\ncommand = []\n").size() == 1);
  for (const char* key : {"executor = \"/x\"", "command = [\"x\"]"}) {
    const Lines lines = errors_in(std::string("[defaults]\n") + key + "\n");
    REQUIRE(lines.size() == 1);
    CHECK(has(lines[0], "may not be in [defaults]"));
  }
}

TEST_CASE("a key for another kind of list is an error") {
  const std::string command = "command = [\"x\"]\n";
  const std::string single = "executor = \"/x\"\nmode = \"single\"\n";
  const std::string stream = "executor = \"/x\"\nmode = \"stream\"\n";
  const auto error = [](const std::string& list, const std::string& line) {
    const Lines lines = errors_in("[lists.w]\n" + list + line);
    return lines.size() == 1 ? lines[0] : std::string();
  };
  for (const char* line : {"args = [\"-v\"]\n", "args = []\n", "requires = [\"gpu\"]\n",
                           "mode = \"single\"\n", "processes = 1\n", "max_age = \"1h\"\n"}) {
    CAPTURE(line);
    CHECK(has(error(command, line), "is for a"));
  }
  CHECK(has(error(single, "max_items = 2\n"), "c:4:1: lists.w.max_items: is for mode = "));
  CHECK(has(error(stream, "env_var = \"A\"\n"), "is for one process per item"));
  CHECK(has(error(stream, "success_exit_codes = [3]\n"), "is for one process per item"));
}

TEST_CASE("a key in [defaults] applies only to the lists that may have it") {
  const Config config = parse(
      "[defaults]\nargs = [\"-v\"]\nrequires = [\"gpu\"]\nprocesses = 3\nenv_var = \"A\"\n"
      "[lists.a]\ncommand = [\"x\", \"{}\"]\n"
      "[lists.b]\nexecutor = \"/x\"\nmode = \"stream\"\n"
      "[lists.c]\nexecutor = \"/x\"\n");
  const ListConfig& command = *config.lists.at("a");
  CHECK(command.args->empty());
  CHECK(command.requires_caps->empty());
  CHECK(command.processes == 1);
  CHECK(command.child->env_var == "A");
  const ListConfig& stream = *config.lists.at("b");
  CHECK(stream.args == Lines{"-v"});
  CHECK(stream.processes == 3);
  CHECK(stream.child->env_var.empty());
  const ListConfig& either = *config.lists.at("c");
  CHECK(either.processes == 3);
  CHECK(either.child->env_var == "A");
  CHECK(
      parse("[defaults]\nmode = \"single\"\n[lists.w]\ncommand = [\"x\"]\n").lists.at("w")->mode ==
      Mode::automatic);
}

TEST_CASE("a key of a list overrides [defaults], which may come later in the file") {
  const Config config = parse(
      "[lists.a]\nexecutor = \"/x\"\n"
      "[lists.b]\nexecutor = \"/x\"\nconcurrency = 1\nbackoff = { max = \"2h\" }\nenv = { B = "
      "\"2\" }\n"
      "[defaults]\nconcurrency = 7\nbackoff = false\nenv = { A = \"1\" }\ntimeout = 1.5\n");
  CHECK(config.lists.at("a")->concurrency == 7);
  CHECK_FALSE(config.lists.at("a")->backoff);
  CHECK(config.lists.at("a")->child->env.count("A") == 1);
  CHECK(config.lists.at("b")->concurrency == 1);
  CHECK(config.lists.at("b")->backoff == Backoff{1s, 2h, 2.0});
  CHECK(config.lists.at("b")->child->env.count("A") == 0);
  CHECK(config.lists.at("b")->timeout == 1500ms);
}

TEST_CASE("list names are any string, and a final colon makes no difference") {
  const Config config = parse(
      "[lists.\"media:thumbs\"]\nexecutor = \"/x\"\n"
      "[lists.\"work:\"]\nexecutor = \"/x\"\n"
      "[lists.\"a\\u0000b\\n\"]\ncommand = [\"x\", \"{}\"]\n"
      "[lists.\"::\"]\nexecutor = \"/x\"\n");
  CHECK(config.lists.count("media:thumbs") == 1);
  CHECK(config.lists.at("work")->key_prefix() == "work:");
  CHECK(config.lists.count(std::string("a\0b\n", 4)) == 1);
  CHECK(config.lists.at(":")->key_prefix() == "::");
  CHECK(config.warnings.empty());

  const Config empty = parse("[lists.\"\"]\nexecutor = \"/x\"\n");
  CHECK(empty.lists.at("")->key_prefix().empty());
  REQUIRE(empty.warnings.size() == 1);
  CHECK(empty.warnings[0].starts_with("c:1:8: lists.\"\": has the empty prefix"));
  CHECK(errors_in("[lists.\":\"]\nexecutor = \"/x\"\n").size() == 1);
}

TEST_CASE("two lists with conflicting Redis keys are an error") {
  const std::string why =
      "shares keys with another list: keys of \"a:lock\" would be locks of \"a\"; must have "
      "another "
      "name";
  CHECK(errors_in("[lists.a]\ncommand = [\"x\"]\n[lists.\"a:lock\"]\ncommand = [\"x\"]\n") ==
        Lines{"c:3:8: lists.\"a:lock\": " + why});
  CHECK(errors_in("[lists.\"a:lock\"]\ncommand = [\"x\"]\n[lists.a]\ncommand = [\"x\"]\n") ==
        Lines{"c:1:8: lists.\"a:lock\": " + why});
  CHECK(
      errors_in("[lists.\"a:proc:b\"]\ncommand = [\"x\"]\n[lists.a]\ncommand = [\"x\"]\n").size() ==
      1);
  CHECK(errors_in("[lists.\"a:lock-x\"]\ncommand = [\"x\"]\n[lists.\"a:lock:b\"]\ncommand = "
                  "[\"x\"]\n[lists.a]\ncommand = [\"x\"]\n")
            .size() == 1);
  CHECK(
      errors_in("[lists.\"a:locks\"]\ncommand = [\"x\"]\n[lists.a]\ncommand = [\"x\"]\n").empty());
}

TEST_CASE("the error for a duplicate list names both locations") {
  CHECK(errors_in("[lists.w]\nexecutor = \"/x\"\n[lists.\"w:\"]\nexecutor = \"/x\"\n") ==
        Lines{"c:3:8: lists.\"w:\": is defined twice: first at c:1:8; remove one (a final ':' "
              "makes no difference)"});
}

TEST_CASE("the name of a list with an executor must be a valid argument") {
  CHECK(
      errors_in("[lists.\"a\\u0000b\"]\nexecutor = \"/x\"\n") ==
      Lines{"c:1:8: lists.\"a\\u0000b\": has a NUL byte, but an executor gets the name of the list "
            "as an argument, which cannot have NUL bytes; rename the list, or use a command"});
  CHECK(errors_in("[lists.\"a\\u0000b\"]\ncommand = [\"x\", \"{}\"]\n").empty());
  const std::string longest((std::size_t{128} << 10) - 1, 'a');
  CHECK(errors_in("[lists." + longest + "]\nexecutor = \"/x\"\n").empty());
  CHECK(errors_in("[lists." + longest + "a]\nexecutor = \"/x\"\n").size() == 1);
  CHECK(errors_in("[lists." + longest + "a]\ncommand = [\"x\", \"{}\"]\n").empty());
}

TEST_CASE("a command without the item in its arguments is a warning") {
  FakeHost host;
  const auto warnings = [&](const std::string& keys) {
    return parse_config("[lists.w]\n" + keys, "c", host).warnings;
  };
  CHECK(warnings("command = [\"x\", \"-v\"]\n") ==
        Lines{"c:2:1: lists.w.command: has no {} in its command, so that each run has the same "
              "arguments; {} stands for the item, which is also in the variable W8Y_ITEM"});
  CHECK(warnings("command = [\"x\", \"a{}b\"]\n").empty());
  CHECK(warnings("command = [\"sh\", \"-c\", \"echo $W8Y_ITEM\"]\n").empty());
  CHECK(warnings("command = [\"x\"]\nenv_var = \"ITEM\"\n").empty());
  CHECK(warnings("executor = \"/x\"\n").empty());
}

namespace config_lists_test {
namespace {
std::string schedule_of(const std::string& name, const std::string& keys) {
  return "[lists." + name + "]\nsource = \"schedule\"\ncommand = [\"x\", \"{}\"]\n" + keys + "\n";
}
}  // namespace

TEST_CASE("schedules without a common queue share a key prefix") {
  const Config config =
      parse(schedule_of("b", "key_prefix = \"bike:\"\nqueues = \"B\"\ncatch_up = \"all\"") +
            schedule_of("a",
                        "key_prefix = \"bike\"\nqueues = \"A:C\"\ndispatch = false\n"
                        "timefile = \"/t\"") +
            schedule_of("bike", "key_prefix = \"bike\"\nqueues = \"D\""));
  const ListConfig& a = *config.lists.at("a");
  const ListConfig& b = *config.lists.at("b");
  const ListConfig& bike = *config.lists.at("bike");
  CHECK(a.key_prefix() == "bike:");
  CHECK(a.key_suffix() == ":a");
  CHECK(bike.key_suffix().empty());
  CHECK(describe(a).at("key_prefix") == "bike");
  // The first enabled list with dispatch = true dispatches.
  CHECK_FALSE(a.schedule().dispatches());
  CHECK(b.schedule().dispatches());
  CHECK_FALSE(bike.schedule().dispatches());
  CHECK(b.schedule().shared.timefile == "/t");
  CHECK(a.schedule().shared.has_job("x:B"));
  CHECK_FALSE(a.schedule().shared.has_job("x:C"));
  CHECK(a.schedule().shared.find("B")->catch_up == CatchUp::all);
  CHECK_FALSE(a.leases_as(*parse(schedule_of("a", "queues = \"A\"")).lists.at("a")));
}

TEST_CASE("a list that is disabled on this host does not dispatch for its key prefix") {
  const Config config =
      parse(schedule_of("a", "key_prefix = \"bike\"\nqueues = \"A\"\nenabled = false") +
            schedule_of("b", "key_prefix = \"bike\"\nqueues = \"B\""));
  CHECK_FALSE(config.lists.at("a")->schedule().dispatches());
  CHECK(config.lists.at("b")->schedule().dispatches());
}

TEST_CASE("a key prefix that lists cannot share is an error") {
  const std::string first =
      schedule_of("a", "key_prefix = \"bike\"\nqueues = \"A:B\"\ntimefile = \"/a\"");
  CHECK(errors_in(first + schedule_of("b", "key_prefix = \"bike\"\nqueues = \"C:B\"")) ==
        Lines{"c:11:1: lists.b.queues: the queue \"B\" belongs to list \"a\" with the same key "
              "prefix; must have other codes, or another key_prefix"});
  CHECK(errors_in(first +
                  schedule_of("b", "key_prefix = \"bike\"\nqueues = \"C\"\ntimefile = \"/b\"")) ==
        Lines{"c:12:1: lists.b.timefile: is \"/b\", and that of list \"a\" with the same key "
              "prefix is \"/a\": one dispatcher writes it; must be the same"});
  CHECK(
      errors_in(first + "[lists.bike]\ncommand = [\"x\", \"{}\"]\n") ==
      Lines{"c:7:8: lists.bike: the key prefix \"bike\" belongs to list \"a\": only schedules may "
            "share a key prefix; must have another name"});
  CHECK(errors_in("[lists._]\ncommand = [\"x\", \"{}\"]\n" +
                  schedule_of("a", "key_prefix = \"_\"\nqueues = \"A\"")) ==
        Lines{"c:6:1: lists.a.key_prefix: the key prefix \"_\" belongs to list \"_\": only "
              "schedules may share a key prefix; must be another key prefix, set with key_prefix"});
  CHECK(
      errors_in("[defaults]\nkey_prefix = \"_\"\n[lists._]\ncommand = [\"x\", \"{}\"]\n" +
                schedule_of("a", "queues = \"A\"")) ==
      Lines{"c:5:8: lists.a: the key prefix \"_\" belongs to list \"_\": only schedules may share "
            "a key prefix; must be another key prefix, set with key_prefix"});
  CHECK(errors_in("[lists.w]\ncommand = [\"x\", \"{}\"]\nkey_prefix = \"bike\"\n").size() == 1);
}

TEST_CASE("the list with the empty name has no key prefix") {
  CHECK(
      errors_in(schedule_of("\"\"", "key_prefix = \"bike\"\nqueues = \"A\"")) ==
      Lines{"c:4:1: lists.\"\".key_prefix: has the key prefix \"bike\", and the list has an empty "
            "name; the list must have a name"});
  CHECK(errors_in("[defaults]\nkey_prefix = \"bike\"\n" + schedule_of("\"\"", "queues = \"A\"")) ==
        Lines{"c:3:8: lists.\"\": has the key prefix \"bike\", and the list has an empty name; the "
              "list must have a name"});
  CHECK(parse(schedule_of("\"\"", "queues = \"A\"")).lists.size() == 1);
}
}  // namespace config_lists_test
