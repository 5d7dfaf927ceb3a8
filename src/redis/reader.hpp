// From bytes to replies: hiredis's parser, with bounds.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct redisReader;  // hiredis's
struct redisReply;

namespace w8y::redis {

struct FreeReply {
  void operator()(redisReply* reply) const;
};
using OwnedReply = std::unique_ptr<redisReply, FreeReply>;

/// Whatever the other side sends costs no more memory than twice `max_reply` (what was read, and
/// what was made of it), and no more time than its length needs. After a problem nothing more is
/// read.
class Reader {
 public:
  static constexpr std::size_t default_max_reply = std::size_t{128} << 20;
  static constexpr std::size_t max_elements = 1U << 20;  ///< of all arrays of a reply
  /// Memory that an element takes besides its text; counted as bytes of the reply.
  static constexpr std::size_t element_cost = 96;
  static constexpr int max_depth = 8;                 ///< of arrays in arrays
  static constexpr std::size_t max_line = 64U << 10;  ///< status, error and number replies
  static constexpr std::size_t max_feed = 16U << 10;  ///< more at once costs the parser copies

  explicit Reader(std::size_t max_reply = default_max_reply);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// At most max_feed bytes at once, then next() until it gives nothing.
  void feed(std::string_view bytes);
  /// The next whole reply; nothing if it isn't whole yet or there is a problem.
  OwnedReply next();
  /// Empty if all is well.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// The problem is that the reply has more than `max_reply`.
  [[nodiscard]] bool too_large() const { return too_large_; }

 private:
  void check_unfinished();

  struct FreeReader {
    void operator()(redisReader* reader) const;
  };
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::size_t max_reply_;
  std::size_t taken_ = 0;            // bytes since the last whole reply
  std::size_t left_ = max_elements;  // that it may still have
  bool too_large_ = false;
  std::string problem_;
};

}  // namespace w8y::redis
