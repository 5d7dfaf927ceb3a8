#include "redis/reader.hpp"

#include <hiredis.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace w8y::redis {

namespace {

// hiredis 0.14 counts the elements of an array as int and keeps its tasks in an array; 1.2 counts
// them as size_t and keeps pointers to its tasks. The code below works with both.

/// Number of arrays around a task. hiredis 1.2 has no limit.
int depth_of(const redisReadTask* task) {
  int depth = 0;
  while (depth <= Reader::max_depth && (task = task->parent) != nullptr) ++depth;
  return depth;
}

/// Memory of the reply of a task, with the number of elements left.
ReplyMemory& memory_of(const redisReadTask* task) {
  return *static_cast<ReplyMemory*>(task->privdata);
}

/// Allocates a reply and `more` bytes behind it. nullptr if there is no memory.
redisReply* create(const redisReadTask* task, std::size_t more = 0) {
  void* place = memory_of(task).allocate(sizeof(redisReply) + more);
  if (place == nullptr) return nullptr;
  auto* reply = new (place) redisReply{};
  reply->type = task->type;
  if (task->parent != nullptr)
    static_cast<redisReply*>(task->parent->obj)->element[task->idx] = reply;
  return reply;
}

void* create_string(const redisReadTask* task, char* text, std::size_t size) {
  redisReply* reply = create(task, size + 1);
  if (reply == nullptr) return nullptr;
  reply->len = size;
  reply->str = reinterpret_cast<char*>(reply + 1);
  std::memcpy(reply->str, text, size);
  reply->str[size] = '\0';
  return reply;
}

void* create_integer(const redisReadTask* task, long long value) {
  redisReply* reply = create(task);
  if (reply != nullptr) reply->integer = value;
  return reply;
}

void* create_nil(const redisReadTask* task) {
  redisReply* reply = create(task);
  if (reply != nullptr) reply->type = REDIS_REPLY_NIL;
  return reply;
}

/// hiredis allocates as many elements as the header declares.
template <typename Count>
void* create_array(const redisReadTask* task, Count elements) {
  ReplyMemory& memory = memory_of(task);
  if (std::cmp_greater(elements, memory.elements_left)) return nullptr;
  if (depth_of(task) >= Reader::max_depth) return nullptr;
  const auto count = static_cast<std::size_t>(elements);
  memory.elements_left -= count;
  redisReply* reply = create(task, count * sizeof(redisReply*));
  if (reply == nullptr) return nullptr;
  reply->elements = count;
  reply->element = reinterpret_cast<redisReply**>(reply + 1);
  std::fill_n(reply->element, count, nullptr);
  return reply;
}

/// Does nothing: clear() frees the memory of the reply.
void free_object(void* /*reply*/) {}

/// Types of reply that only hiredis 1.2 has. They belong to a protocol that w8y does not use.
template <typename Functions>
void add_newer_kinds(Functions& functions) {
  if constexpr (requires { functions.createDouble; }) {
    functions.createDouble = [](const redisReadTask* task, double, char*, std::size_t) {
      return create_nil(task);
    };
    functions.createBool = [](const redisReadTask* task, int) { return create_nil(task); };
  }
}

redisReplyObjectFunctions* functions() {
  static redisReplyObjectFunctions all = [] {
    redisReplyObjectFunctions made{};
    made.createString = create_string;
    made.createArray = create_array;
    made.createInteger = create_integer;
    made.createNil = create_nil;
    made.freeObject = free_object;
    add_newer_kinds(made);
    return made;
  }();
  return &all;
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

std::byte* ReplyMemory::add(std::size_t size) noexcept {
  try {
    return others_.emplace_back(new std::byte[size]).get();
  } catch (const std::bad_alloc&) {
    return nullptr;  // hiredis reports a problem
  }
}

void* ReplyMemory::allocate(std::size_t size) noexcept {
  constexpr std::size_t unit = alignof(std::max_align_t);
  size = (size + unit - 1) / unit * unit;
  // A long text has its own block, so that little of any block is left unused.
  if (size > block / 4) return add(size);
  if (left_ < size) {
    if (at_ != nullptr) {
      at_ = add(block);
    } else {
      if (!first_) first_.reset(new (std::nothrow) std::byte[block]);
      at_ = first_.get();
    }
    if (at_ == nullptr) return nullptr;
    left_ = block;
  }
  left_ -= size;
  return std::exchange(at_, at_ + size);
}

void ReplyMemory::clear() {
  others_.clear();
  at_ = nullptr;
  left_ = 0;
  elements_left = max_elements;
}

void Reader::FreeReader::operator()(redisReader* reader) const {
  redisReaderFree(reader);
}

Reader::Reader(std::size_t max_reply)
    : reader_(redisReaderCreateWithFunctions(functions())), max_reply_(max_reply) {
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = &memory_;
}

void Reader::feed(std::string_view bytes) {
  if (!problem_.empty()) return;
  taken_ += bytes.size();
  if (taken_ + (max_elements - memory_.elements_left) * element_cost > max_reply_) {
    too_large_ = true;
    problem_ = "it has more than " + std::to_string(max_reply_ >> 20) +
               " MiB; shorten the longest items and values in Redis";
  } else if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) {
    problem_ = reader_->errstr;
  }
}

const redisReply* Reader::next() {
  if (!problem_.empty()) return nullptr;
  if (std::exchange(given_, false)) memory_.clear();
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
    // hiredis reports "Out of memory" for an array that is too large or too deep.
    problem_ = reader_->err == REDIS_ERR_OOM ? "it has too many elements or levels of arrays"
                                             : reader_->errstr;
    return nullptr;
  }
  if (reply == nullptr) {
    check_unfinished();
  } else {
    const bool large = taken_ > std::min(large_reply, max_reply_ / 4);
    taken_ = reader_->len - reader_->pos;
    given_ = true;
    if (large) free_buffer();
  }
  return static_cast<const redisReply*>(reply);
}

/// hiredis keeps the buffer of a large reply until the next feed(). The caller may copy the reply
/// before that, and there would be three copies of it.
void Reader::free_buffer() noexcept {
  redisReader* fresh = redisReaderCreateWithFunctions(functions());
  if (fresh == nullptr) return;
  fresh->privdata = &memory_;
  // Less than the last feed(): the start of the next reply.
  redisReaderFeed(fresh, reader_->buf + reader_->pos, reader_->len - reader_->pos);
  reader_.reset(fresh);
}

/// Limits unfinished lines. The parser searches for the end of a line from its start each time, so
/// invalid input would cost the square of its length.
void Reader::check_unfinished() {
  if (reader_->ridx < 0) return;
  const std::size_t waiting = reader_->len - reader_->pos;
  const bool bulk = type_being_read(*reader_) == REDIS_REPLY_STRING;
  constexpr std::size_t max_number = 32;
  if (bulk ? waiting > max_number &&
                 std::memchr(reader_->buf + reader_->pos, '\n', max_number) == nullptr
           : waiting > max_line)
    problem_ = "a line without an end, so the server is not Redis; check the address";
}

}  // namespace w8y::redis
