// Parser of replies: that of hiredis, with limits.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redis/options.hpp"

struct redisReader;  // of hiredis
struct redisReply;

namespace w8y::redis {

/// Memory of one reply, in blocks. It is freed at once, except for the first block, which is kept
/// for the next reply.
class ReplyMemory {
 public:
  static constexpr std::size_t block = std::size_t{16} << 10;
  static constexpr std::size_t max_elements = 1U << 20;  ///< of all arrays of a reply

  /// Allocates memory of any type, valid until clear(). nullptr if there is no memory.
  void* allocate(std::size_t size) noexcept;
  void clear();

  std::size_t elements_left = max_elements;  ///< elements that arrays may still add

 private:
  std::byte* add(std::size_t size) noexcept;

  std::unique_ptr<std::byte[]> first_;
  std::vector<std::unique_ptr<std::byte[]>> others_;
  std::byte* at_ = nullptr;  ///< nullptr: nothing allocated yet
  std::size_t left_ = 0;     ///< from there
};

/// Reader of a stream of replies. While a reply arrives, it uses at most `max_reply` bytes for
/// unparsed bytes and as much for the parsed part, plus 25 % of the parsed part for the unused ends
/// of blocks. When next() returns a reply, only the parsed part is left. The time is linear in the
/// length. After a problem it reads nothing more.
class Reader {
 public:
  static constexpr std::size_t max_elements = ReplyMemory::max_elements;
  /// Memory of an element besides its text; counted as bytes of the reply.
  static constexpr std::size_t element_cost = 96;
  static constexpr int max_depth = 8;                 ///< of arrays in arrays
  static constexpr std::size_t max_line = 64U << 10;  ///< status, error and number replies
  static constexpr std::size_t max_feed = 16U << 10;  ///< more at once makes the parser copy
  /// Length of a reply after which its buffer is not kept for the next one; at most a quarter of
  /// `max_reply`.
  static constexpr std::size_t large_reply = std::size_t{1} << 20;

  explicit Reader(std::size_t max_reply = usual_max_reply);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Adds at most max_feed bytes. Then call next() until it returns nullptr.
  void feed(std::string_view bytes);
  /// Returns the next complete reply, valid until the next call. nullptr if it is incomplete or
  /// there is a problem.
  const redisReply* next();
  /// Problem that ended the stream; empty if there is none.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Whether the problem is that the reply has more than `max_reply` bytes.
  [[nodiscard]] bool too_large() const { return too_large_; }

 private:
  void check_unfinished();
  void free_buffer() noexcept;

  struct FreeReader {
    void operator()(redisReader* reader) const;
  };
  ReplyMemory memory_;
  bool given_ = false;  // the reply in memory_ has been returned
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::size_t max_reply_;
  std::size_t taken_ = 0;  // bytes since the last complete reply
  bool too_large_ = false;
  std::string problem_;
};

}  // namespace w8y::redis
