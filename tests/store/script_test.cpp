#include <doctest/doctest.h>

#include <string>

#include "store/scripts.hpp"
#include "support/redis_server.hpp"

using namespace w8y;
using namespace w8y::test;

TEST_CASE("the embedded scripts have the hash that Redis computes") {
  RedisServer server;
  for (const redis::Script* each :
       {&store::scripts::claim, &store::scripts::renew, &store::scripts::settle}) {
    INFO(each->name);
    CHECK(server.command({"SCRIPT", "LOAD", std::string(each->text)}) == each->sha1);
  }
}
