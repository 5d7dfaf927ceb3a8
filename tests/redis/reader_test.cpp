#include "redis/reader.hpp"

#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <string>

#include "redis/reply.hpp"

using namespace w8y::redis;

namespace reader_test {
namespace {

/// Feeds bytes as the connection does.
std::string drain(Reader& reader, std::string_view bytes) {
  std::string seen;
  while (!bytes.empty()) {
    reader.feed(bytes.substr(0, Reader::max_feed));
    bytes.remove_prefix(std::min(bytes.size(), Reader::max_feed));
    while (const redisReply* reply = reader.next()) {
      const Reply view(reply);
      seen += view.is_array() ? "[" + std::to_string(view.size()) + "]" : std::string(view.text());
      seen += ' ';
    }
  }
  return seen;
}

std::string nested(int arrays) {
  std::string bytes;
  while (arrays-- > 0) bytes += "*1\r\n";
  return bytes + ":7\r\n";
}

}  // namespace

TEST_CASE("replies are complete, wherever the bytes are split") {
  const std::string bytes = "+OK\r\n$5\r\na\r\nb\n\r\n*2\r\n$-1\r\n*1\r\n:7\r\n-ERR x\r\n";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Reader reader;
    std::string seen = drain(reader, std::string_view(bytes).substr(0, cut));
    seen += drain(reader, std::string_view(bytes).substr(cut));
    CHECK(seen == "OK a\r\nb\n [2] ERR x ");
    CHECK(reader.problem().empty());
  }
}

TEST_CASE("arrays may be nested up to a limit") {
  Reader reader;
  CHECK(drain(reader, nested(Reader::max_depth)) == "[1] ");
  CHECK(reader.problem().empty());
}

TEST_CASE("accessors are valid for each kind of reply") {
  Reader reader;
  reader.feed("*3\r\n:5\r\n$2\r\n42\r\n$3\r\nabc\r\n");
  const redisReply* owned = reader.next();
  const Reply reply(owned);
  CHECK(reply.size() == 3);
  CHECK(reply[0].integer() == 5);
  CHECK(reply[0].text().empty());
  CHECK(reply[1].integer() == 42);
  CHECK(reply[2].integer() == 0);
  CHECK(reply[3].is_nil());
  CHECK(reply[3][7].text().empty());
  CHECK(reply.text().empty());
  CHECK(reply.integer() == 0);
  CHECK_FALSE(reply.is_error());
}

TEST_CASE("invalid bytes are a permanent error, and cost little") {
  const auto problem = [](std::string_view bytes) {
    Reader reader(1U << 20);
    drain(reader, bytes);
    const std::string what = reader.problem();
    CHECK(drain(reader, "+OK\r\n").empty());
    return what;
  };
  CHECK(problem("HTTP/1.1 400 Bad Request\r\n").find("Protocol error") != std::string::npos);
  CHECK_FALSE(problem(std::string("\0\0\0\0", 4)).empty());
  CHECK_FALSE(problem(":12x\r\n").empty());
  CHECK_FALSE(problem("$-2\r\n").empty());
  CHECK_FALSE(problem("*99999999999999999999\r\n").empty());
  CHECK(problem("*2147483647\r\n").find("too many elements") != std::string::npos);
  CHECK(problem("*1048577\r\n").find("too many elements") != std::string::npos);
  CHECK_FALSE(problem(nested(Reader::max_depth + 1)).empty());
  CHECK_FALSE(problem(nested(100'000)).empty());
  CHECK(problem("+" + std::string(100'000, 'a')).find("without an end") != std::string::npos);
  CHECK(problem("*" + std::string(100'000, '1')).find("without an end") != std::string::npos);
  CHECK(problem("$" + std::string(100, '1')).find("without an end") != std::string::npos);
  CHECK(problem("$2000000\r\n" + std::string(1'100'000, 'x')).find("1 MiB") != std::string::npos);
}

TEST_CASE("elements of all arrays of a reply are counted, and count as memory") {
  // Elements need few bytes, but much more memory. They are nested, so that no single array is
  // large.
  std::string arrays = "*4096\r\n";
  for (int i = 0; i < 4096; ++i) {
    arrays += "*512\r\n";
    for (int j = 0; j < 512; ++j) arrays += ":1\r\n";
  }
  Reader reader;
  CHECK(drain(reader, arrays).empty());
  CHECK(reader.problem().find("too many elements") != std::string::npos);

  const auto mebibyte = [](int elements) {
    Reader small(1U << 20);
    std::string bytes = "*" + std::to_string(elements) + "\r\n";
    for (int i = 0; i < elements; ++i) bytes += ":1\r\n";
    // Twice, since the count of one reply must not include that of the previous one.
    drain(small, bytes);
    drain(small, bytes);
    return small.problem();
  };
  CHECK(mebibyte(10'000).empty());
  CHECK(mebibyte(11'000).find("1 MiB") != std::string::npos);
}

TEST_CASE("a reply is in memory twice while it arrives, and once when it is complete") {
  const std::size_t largest = std::size_t{16} << 20;
  const auto allocated = [] {
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
  };
  // Sanitizers have an allocator of their own.
  if (allocated() == 0) return;
  const auto repeated = [](std::size_t count, const std::string& element) {
    std::string bytes = "*" + std::to_string(count) + "\r\n";
    for (std::size_t i = 0; i < count; ++i) bytes += element;
    return bytes;
  };
  const auto bulk = [](std::size_t size) {
    return "$" + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n";
  };
  // Strings of 3,265 bytes leave a fifth of each block unused.
  for (const std::string& bytes :
       {bulk(largest - 100), repeated(160'000, ":1\r\n"), repeated(150'000, "$0\r\n\r\n"),
        repeated(150'000, "*0\r\n"), repeated(4'900, bulk(3'265)), repeated(2, bulk(8'000'000)),
        repeated(1, bulk(largest - 1'000))}) {
    Reader reader(largest);
    const std::size_t before = allocated();
    std::size_t most = 0;
    bool complete = false;
    for (std::size_t at = 0; at < bytes.size(); at += Reader::max_feed) {
      reader.feed(std::string_view(bytes).substr(at, Reader::max_feed));
      complete = reader.next() != nullptr;
      most = std::max(most, allocated() - before);
    }
    INFO(bytes.substr(0, 20), " ", reader.problem());
    REQUIRE(complete);
    const std::size_t mebibyte = std::size_t{1} << 20;
    CHECK(most <= 2 * largest + 2 * mebibyte);
    CHECK(allocated() - before <= largest + largest / 4 + mebibyte);
    // The buffer accepts the next reply.
    reader.feed("+OK\r\n");
    CHECK(Reply(reader.next()).text() == "OK");
  }
}

TEST_CASE("the start of the next reply is kept when the buffer of a large reply is freed") {
  Reader reader;
  const std::string large = "$3000000\r\n" + std::string(3'000'000, 'x') + "\r\n";
  CHECK(drain(reader, large + "*2\r\n:1\r\n$5\r\nab") == std::string(3'000'000, 'x') + " ");
  CHECK(drain(reader, "cde\r\n") == "[2] ");
}

TEST_CASE("error codes are parsed from the start of the error") {
  CHECK(error_code("NOSCRIPT No matching script.") == ErrorCode::noscript);
  CHECK(error_code("WRONGPASS invalid username-password pair") == ErrorCode::noauth);
  CHECK(error_code("NOAUTH Authentication required.") == ErrorCode::noauth);
  CHECK(error_code("OOM command not allowed") == ErrorCode::oom);
  CHECK(error_code("-READONLY You cannot write") == ErrorCode::readonly);
  CHECK(error_code("LOADING") == ErrorCode::loading);
  CHECK(error_code("ERR unknown command") == ErrorCode::other);
  CHECK(error_code("BUSYKEY x") == ErrorCode::other);
  CHECK(error_code("") == ErrorCode::other);
}

}  // namespace reader_test
