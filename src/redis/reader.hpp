// From bytes to replies: hiredis's parser, with bounds.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redis/options.hpp"

struct redisReader;  // hiredis's
struct redisReply;

namespace w8y::redis {

/// What one reply is made in, block by block: it is given back at once, and what short ones need is
/// kept for the next.
class ReplyMemory {
 public:
  static constexpr std::size_t block = std::size_t{16} << 10;
  static constexpr std::size_t max_elements = 1U << 20;  ///< of all arrays of a reply

  /// For whatever it is; it is there until clear(). nullptr: there is no memory.
  void* take(std::size_t size) noexcept;
  void clear();

  std::size_t elements_left = max_elements;  ///< that arrays may still have together

 private:
  std::byte* add(std::size_t size) noexcept;

  std::unique_ptr<std::byte[]> first_;
  std::vector<std::unique_ptr<std::byte[]>> others_;
  std::byte* at_ = nullptr;  ///< nullptr: nothing was taken yet
  std::size_t left_ = 0;     ///< from there
};

/// While a reply arrives, it takes at most `max_reply` for the bytes that are not parsed yet and as
/// much for the parsed part, plus 25 % of the latter for the unused ends of blocks. When next()
/// returns a reply, only the parsed part is left. The time is linear in the length. After a problem
/// nothing more is read.
class Reader {
 public:
  static constexpr std::size_t max_elements = ReplyMemory::max_elements;
  /// Memory that an element takes besides its text; counted as bytes of the reply.
  static constexpr std::size_t element_cost = 96;
  static constexpr int max_depth = 8;                 ///< of arrays in arrays
  static constexpr std::size_t max_line = 64U << 10;  ///< status, error and number replies
  static constexpr std::size_t max_feed = 16U << 10;  ///< more at once costs the parser copies
  /// Of a longer reply, the buffer is not kept for the next one; at most a quarter of `max_reply`.
  static constexpr std::size_t large_reply = std::size_t{1} << 20;

  explicit Reader(std::size_t max_reply = usual_max_reply);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// At most max_feed bytes at once, then next() until it gives nothing.
  void feed(std::string_view bytes);
  /// The next whole reply, until the one after it; nothing if it isn't whole yet or there is a
  /// problem.
  const redisReply* next();
  /// Empty if all is well.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// The problem is that the reply has more than `max_reply`.
  [[nodiscard]] bool too_large() const { return too_large_; }

 private:
  void check_unfinished();
  void free_buffer() noexcept;

  struct FreeReader {
    void operator()(redisReader* reader) const;
  };
  ReplyMemory memory_;
  bool given_ = false;  // what it has was given out
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::size_t max_reply_;
  std::size_t taken_ = 0;  // bytes since the last whole reply
  bool too_large_ = false;
  std::string problem_;
};

}  // namespace w8y::redis
