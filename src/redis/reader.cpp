#include "redis/reader.hpp"

#include <hiredis.h>

#include <cstring>
#include <new>
#include <utility>

namespace w8y::redis {

namespace {

// hiredis 0.14 counts the elements of an array as int and keeps its tasks in an array; 1.2 counts
// them as size_t, and keeps pointers to its tasks. Both fit below.

decltype(redisReplyObjectFunctions::createArray) create_array = nullptr;

/// How many arrays a task is inside of. 1.2 knows no bound, and frees a reply by recursion.
int depth_of(const redisReadTask* task) {
  int depth = 0;
  while (depth <= Reader::max_depth && (task = task->parent) != nullptr) ++depth;
  return depth;
}

/// What the arrays of a reply may still have together.
template <typename Count>
void* create_bounded_array(const redisReadTask* task, Count elements) {
  auto& left = *static_cast<std::size_t*>(task->privdata);
  if (std::cmp_greater(elements, left)) return nullptr;
  if (depth_of(task) >= Reader::max_depth) return nullptr;
  left -= static_cast<std::size_t>(elements);
  return create_array(task, elements);
}

/// hiredis's own functions, but for an array's size: hiredis allocates for what the header claims.
redisReplyObjectFunctions* bounded_functions() {
  static redisReplyObjectFunctions functions = [] {
    redisReader* reader = redisReaderCreate();
    if (reader == nullptr) throw std::bad_alloc();
    redisReplyObjectFunctions copy = *reader->fn;
    redisReaderFree(reader);
    create_array = copy.createArray;
    copy.createArray = create_bounded_array;
    return copy;
  }();
  return &functions;
}

template <typename ReaderState>
int type_being_read(const ReaderState& state) {
  if constexpr (requires { state.rstack; }) {
    return state.rstack[state.ridx].type;
  } else {
    return state.task[state.ridx]->type;
  }
}

}  // namespace

void FreeReply::operator()(redisReply* reply) const {
  freeReplyObject(reply);
}

void Reader::FreeReader::operator()(redisReader* reader) const {
  redisReaderFree(reader);
}

Reader::Reader(std::size_t max_reply)
    : reader_(redisReaderCreateWithFunctions(bounded_functions())), max_reply_(max_reply) {
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = &left_;
}

void Reader::feed(std::string_view bytes) {
  if (!problem_.empty()) return;
  taken_ += bytes.size();
  if (taken_ + (max_elements - left_) * element_cost > max_reply_) {
    too_large_ = true;
    problem_ = "a reply of more than " + std::to_string(max_reply_ >> 20) + " MiB";
  } else if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) {
    problem_ = reader_->errstr;
  }
}

OwnedReply Reader::next() {
  if (!problem_.empty()) return nullptr;
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
    // Its own word for an array that is too large or too deep is "Out of memory".
    problem_ = reader_->err == REDIS_ERR_OOM ? "a reply with too many elements, or arrays too deep"
                                             : reader_->errstr;
    return nullptr;
  }
  if (reply == nullptr) {
    check_unfinished();
  } else {
    taken_ = reader_->len - reader_->pos;
    left_ = max_elements;
  }
  return OwnedReply(static_cast<redisReply*>(reply));
}

/// The parser looks for the end of a line from its start each time: without a bound, garbage would
/// cost the square of its length.
void Reader::check_unfinished() {
  if (reader_->ridx < 0) return;
  const std::size_t waiting = reader_->len - reader_->pos;
  const bool bulk = type_being_read(*reader_) == REDIS_REPLY_STRING;
  constexpr std::size_t longest_number = 32;
  if (bulk ? waiting > longest_number &&
                 std::memchr(reader_->buf + reader_->pos, '\n', longest_number) == nullptr
           : waiting > max_line)
    problem_ = "a line without an end, which is not Redis's protocol";
}

}  // namespace w8y::redis
