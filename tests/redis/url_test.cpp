#include "redis/url.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace w8y::redis;
using namespace std::string_literals;

namespace url_test {
namespace {

std::string problem(const std::string& text) {
  try {
    const Url url = parse_url(text);
    return "accepted as " + url.to_string();
  } catch (const UrlError& error) {
    return error.what();
  }
}

bool says(const std::string& text, const std::string& part) {
  const std::string what = problem(text);
  INFO(text << ": " << what);
  const bool found = what.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("a TCP URL needs only its scheme") {
  const Url all = parse_url("redis://bob:secret@db.example.com:6380/3");
  CHECK(all.kind == Url::Kind::tcp);
  CHECK(all.user == "bob");
  CHECK(all.password == "secret");
  CHECK(all.server.host == "db.example.com");
  CHECK(all.server.port == 6380);
  CHECK(all.db == 3);
  CHECK(all.to_string() == "redis://db.example.com:6380/3");

  for (const char* text : {"redis://", "redis:///", "redis://localhost", "REDIS://localhost:6379/",
                           "redis://:6379", "redis:///0"}) {
    INFO(text);
    CHECK(parse_url(text).to_string() == "redis://localhost:6379");
  }
}

TEST_CASE("user and password may each be omitted, and may have percent escapes") {
  CHECK(parse_url("redis://:secret@host").password == "secret");
  CHECK(parse_url("redis://:secret@host").user.empty());
  CHECK(parse_url("redis://:secret@").server.host == "localhost");
  CHECK(parse_url("redis://bob@host").user == "bob");
  CHECK(parse_url("redis://bob:@host").password.empty());
  CHECK(parse_url("redis://b%6Fb:a%2fb%40c%25%C3%A4@host").user == "bob");
  CHECK(parse_url("redis://bob:a%2fb%40c%25%C3%A4@host").password == "a/b@c%\xC3\xA4");
  CHECK(parse_url("redis://bob:a:b@host").password == "a:b");
  CHECK(parse_url("redis://bob:a@b@host").password == "a@b");
  CHECK(parse_url("redis://bob:a@b@host").server.host == "host");
}

TEST_CASE("IPv6 addresses are in brackets, with or without a zone") {
  CHECK(parse_url("redis://[::1]").server.host == "::1");
  CHECK(parse_url("redis://u:p@[2001:db8::7]:7000/1").to_string() ==
        "redis://[2001:db8::7]:7000/1");
  CHECK(parse_url("redis://[fe80::1%25eth0]").server.host == "fe80::1%eth0");
  says("redis://::1", "brackets");
  says("redis://[::1", "without ']'");
  says("redis://[::1]6379", "':' and the port");
  says("redis://[localhost]:6379", "not an IPv6 address");
  says("redis://[::1%25 ]", "space");
}

TEST_CASE("URLs of Unix sockets may have a database and a login") {
  const Url url = parse_url("unix:///run/redis/redis.sock?db=4");
  CHECK(url.kind == Url::Kind::unix_socket);
  CHECK(url.path == "/run/redis/redis.sock");
  CHECK(url.db == 4);
  CHECK(url.to_string() == "unix:///run/redis/redis.sock?db=4");
  CHECK(parse_url("unix://bob:secret@/r.sock").password == "secret");
  CHECK(parse_url("unix://:secret@/r.sock").to_string() == "unix:///r.sock");
  CHECK(parse_url("unix:///tmp/a@b.sock").path == "/tmp/a@b.sock");
  CHECK(parse_url("unix:///tmp/a%20b%3f.sock").path == "/tmp/a b?.sock");
  CHECK(parse_url("unix:///tmp/a%20b%3f.sock").to_string() == "unix:///tmp/a%20b%3F.sock");
  says("unix://run/redis.sock", "three slashes");
  says("unix://", "three slashes");
  says("unix:///", "path of the socket is missing");
  says("unix:/run/redis.sock", "write unix:///run/redis.sock");
  says("unix:///r.sock?timeout=3", "only ?db=N");
  says("unix:///r.sock?db=", "database");
  says("unix:///r%00.sock", "NUL");
  says("unix:///" + std::string(107, 'x'), "too long");
  CHECK(parse_url("unix:///" + std::string(106, 'x')).path.size() == 107);
}

TEST_CASE("ports and databases are validated") {
  CHECK(parse_url("redis://h:1").server.port == 1);
  CHECK(parse_url("redis://h:65535").server.port == 65535);
  for (const char* text : {"redis://h:0", "redis://h:65536", "redis://h:99999999999999999999",
                           "redis://h:-1", "redis://h:+1", "redis://h:6379x", "redis://h:0x1"})
    says(text, "1 to 65535");
  says("redis://h:", "without a port");
  for (const char* text :
       {"redis://h/-1", "redis://h/+1", "redis://h/x", "redis://h/1/2", "redis://h/99999999999"})
    says(text, "database");
  says("redis://h/1?x=2", "nothing may follow");
}

TEST_CASE("TLS, sentinels and clusters have schemes of their own") {
  const Url tls = parse_url("rediss://u:p@db:6380/2");
  CHECK(tls.kind == Url::Kind::tcp);
  CHECK(tls.tls);
  CHECK(tls.to_string() == "rediss://db:6380/2");

  const Url watched = parse_url("redis+sentinel://u:p@a,b:7000,[::1]/my%20master/3");
  CHECK(watched.kind == Url::Kind::sentinel);
  CHECK(watched.seeds == std::vector<HostPort>{{"a", 26379}, {"b", 7000}, {"::1", 26379}});
  CHECK(watched.service == "my master");
  CHECK(watched.db == 3);
  CHECK(watched.user == "u");
  CHECK(watched.to_string() == "redis+sentinel://a:26379,b:7000,[::1]:26379/my%20master/3");
  CHECK(watched.at({"c", 1}).to_string() == "redis://c:1/3");
  CHECK(parse_url("rediss+sentinel://a/m").tls);

  const Url cluster = parse_url("rediss+cluster://a,b:7001");
  CHECK(cluster.kind == Url::Kind::cluster);
  CHECK(cluster.tls);
  CHECK(cluster.seeds == std::vector<HostPort>{{"a", 6379}, {"b", 7001}});
  CHECK(cluster.at({"c", 1}).to_string() == "rediss://c:1");

  says("redis+sentinel://a,b", "name of the service is missing");
  says("redis+sentinel://a,,b/m", "a host is missing");
  says("redis+sentinel:///m", "a host is missing");
  says("redis+sentinel://a/m/x", "database");
  says("redis+cluster://a,", "a host is missing");
  says("redis+cluster://a/1", "one database only");
  says("redis+ring://a", "unknown scheme redis+ring://");
  std::string many = "redis+cluster://a";
  for (int i = 0; i < 64; ++i) many += ",a";
  says(many, "64 hosts");
}

TEST_CASE("errors name a valid form") {
  says("", "redis://[user");
  says("localhost", "write redis://localhost");
  says("localhost:6379/2", "write redis://localhost:6379/2");
  says("/run/redis.sock", "write unix:///run/redis.sock");
  says("redsi://localhost", "unknown scheme redsi://");
  says("http://localhost", "unknown scheme http://");
  says("://localhost", "unknown scheme");
  says("redis://ho st", "space");
  says("redis://host\n", "control character");
  says("redis://host\0"s, "NUL");
  says("redis://h%6Fst", "host");
  says("redis://a,b", "host");
  says("redis://" + std::string(300, 'a'), "253");
  for (const char* text : {"redis://:a%@h", "redis://:a%2@h", "redis://:%zz@h", "redis://:% 2@h",
                           "redis://%+2:x@h", "redis://:%0x@h"})
    CHECK(problem(text).find("accepted") == std::string::npos);
  says("redis://:a%@h", "%25");
  says("redis://:a%00@h", "NUL");
}

TEST_CASE("errors do not contain the password") {
  const std::string secret = "hunter2";
  for (const std::string& text :
       {"redis://u:" + secret + "@host:notaport", "redis://u:" + secret + "/x@host",
        "redis://u:" + secret + "?x@host", "redis://u:" + secret + "#@host",
        "redis://u:" + secret + "%@host", "redis://u:" + secret + "@ho st", "redis://u:" + secret,
        "u:" + secret + "@host", "u:" + secret, ":" + secret + "@host", secret + "@host",
        "rediss://u:" + secret + "@host:x", "foo://u:" + secret + "@host",
        "redis+cluster://u:" + secret + "@a,b:x", "unix://u:" + secret + "@rel",
        "unix://u:" + secret + "@/p?q", "u:" + secret + "@x://host", "/u:" + secret + "@host"}) {
    const std::string what = problem(text);
    INFO(text);
    CHECK(what.find("accepted") == std::string::npos);
    CHECK(what.find(secret) == std::string::npos);
  }
  CHECK(parse_url("redis://u:hunter2@host").to_string().find("hunter2") == std::string::npos);
}

}  // namespace url_test
