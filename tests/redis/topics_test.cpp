#include "redis/topics.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace w8y::redis;

namespace topics_test {
namespace {

std::shared_ptr<TopicEntry> wish(std::string_view name) {
  auto entry = std::make_shared<TopicEntry>();
  entry->name = name;
  return entry;
}

/// Returns the commands as text: "+a b" for SUBSCRIBE, "-a" for UNSUBSCRIBE.
std::vector<std::string> sent(Topics& topics) {
  std::vector<std::string> all;
  for (const Topics::Command& command : topics.commands()) {
    std::string text = command.subscribe ? "+" : "-";
    for (const std::string& name : command.names) text += name;
    all.push_back(text);
  }
  return all;
}

using Sent = std::vector<std::string>;

}  // namespace

TEST_CASE("a topic is subscribed once for all its entries, and unsubscribed with the last") {
  Topics topics;
  const auto first = wish("a");
  const auto second = wish("a");
  CHECK_FALSE(topics.add(first));
  CHECK(sent(topics).empty());  // there is no connection
  topics.connected();
  CHECK(sent(topics) == Sent{"+a"});
  CHECK_FALSE(topics.add(second));
  CHECK(sent(topics).empty());
  CHECK(topics.confirmed(true, "a").size() == 2);
  CHECK(topics.add(wish("a")));  // confirmed already
  CHECK(topics.confirmed(true, "a").empty());

  Topics few;
  few.connected();
  few.add(first);
  few.add(second);
  CHECK(sent(few) == Sent{"+a"});
  few.remove(first);
  CHECK(sent(few).empty());
  few.remove(second);
  CHECK(sent(few) == Sent{"-a"});
  CHECK(few.entries("a").empty());
}

TEST_CASE("entries of a topic keep the order of their registration when others are removed") {
  Topics topics;
  const std::vector<std::shared_ptr<TopicEntry>> wishes = {wish("a"), wish("a"), wish("a")};
  for (const auto& each : wishes) topics.add(each);
  CHECK(topics.entries("a") == wishes);
  std::size_t all = 0;
  topics.each([&all](TopicEntry&) { ++all; });
  CHECK(all == 3);
  topics.remove(wishes[1]);
  CHECK(topics.entries("a") == TopicEntries{wishes[0], wishes[2]});
  topics.add(wishes[1]);
  topics.remove(wishes[0]);
  CHECK(topics.entries("a") == TopicEntries{wishes[2], wishes[1]});
}

TEST_CASE("an entry added again before the replies is confirmed by the last reply only") {
  Topics topics;
  topics.connected();
  const auto first = wish("a");
  topics.add(first);
  CHECK(sent(topics) == Sent{"+a"});
  topics.remove(first);
  CHECK(sent(topics) == Sent{"-a"});
  const auto second = wish("a");
  topics.add(second);
  CHECK(sent(topics) == Sent{"+a"});
  CHECK(topics.confirmed(true, "a").empty());   // of the first
  CHECK(topics.confirmed(false, "a").empty());  // unsubscribed
  CHECK(topics.confirmed(true, "a") == TopicEntries{second});
}

TEST_CASE("a topic added and removed within one loop iteration costs no command") {
  Topics topics;
  topics.connected();
  const auto entry = wish("a");
  topics.add(entry);
  topics.remove(entry);
  CHECK(sent(topics).empty());
  CHECK(topics.entries("a").empty());
}

TEST_CASE("all topics are subscribed and confirmed again on a new connection") {
  Topics topics;
  topics.connected();
  const auto kept = wish("kept");
  const auto gone = wish("gone");
  topics.add(kept);
  topics.add(gone);
  sent(topics);
  topics.confirmed(true, "kept");
  CHECK(topics.is_confirmed(*kept));
  topics.disconnected();
  CHECK_FALSE(topics.is_confirmed(*kept));
  topics.remove(gone);
  topics.connected();
  CHECK(sent(topics) == Sent{"+kept"});
  CHECK(topics.confirmed(true, "kept") == TopicEntries{kept});
}

TEST_CASE("a refused topic is retried by itself, and all refused ones when one is allowed") {
  Topics topics;
  topics.connected();
  const auto entry = wish("a");
  topics.add(entry);
  CHECK(sent(topics) == Sent{"+a"});
  topics.refused("a");
  CHECK(sent(topics).empty());
  CHECK_FALSE(topics.is_confirmed(*entry));
  const auto other = wish("b");
  topics.add(other);
  CHECK(sent(topics) == Sent{"+b"});
  topics.refused("b");
  CHECK(topics.retry_refused());
  CHECK(sent(topics) == Sent{"+a"});
  topics.refused("a");
  CHECK(topics.retry_refused());
  CHECK(sent(topics) == Sent{"+b"});
  CHECK(topics.confirmed(true, "b") == TopicEntries{other});
  CHECK(sent(topics) == Sent{"+a"});
  CHECK(topics.confirmed(true, "a") == TopicEntries{entry});
  CHECK_FALSE(topics.retry_refused());
  // A topic that is added and removed is refused each time, and retried once.
  for (int i = 0; i < 3; ++i) {
    const auto brief = wish("c");
    topics.add(brief);
    CHECK(sent(topics) == Sent{"+c"});
    topics.refused("c");
    if (i == 2) break;
    topics.remove(brief);
    CHECK(sent(topics) == Sent{"-c"});
    topics.confirmed(false, "c");
  }
  CHECK(topics.retry_refused());
  CHECK_FALSE(topics.retry_refused());
  topics.disconnected();
  topics.connected();
  CHECK(sent(topics).size() == 1);
}

}  // namespace topics_test
