// The circular lists on one Redis, in the order of their coming.
#pragma once

#include <cstddef>
#include <memory>

#include <w8y/rule.hpp>

namespace w8y::redis {
class Client;
}

namespace w8y::store {

/// One list of them all, for whoever has something to do for each: they are ten thousand, and so
/// have their places in themselves.
class Members {
 public:
  explicit Members(redis::Client& client);
  ~Members();
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  class Member {
   public:
    explicit Member(Members& members);
    virtual ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    /// Of which what users have taken off the list is forgotten; nullptr: not now.
    [[nodiscard]] virtual RulePtr swept_rule() const = 0;

   protected:
    /// There is a new connection.
    virtual void on_up() = 0;

   private:
    friend class Members;
    Members& members_;
    Member* before_ = nullptr;
    Member* after_ = nullptr;
  };

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The next in turn; behind the last one comes the first. nullptr: there is none.
  Member* next_in_turn();
  /// The one that was the last in turn is it again.
  void turn_back();

 private:
  class Up;
  void connected();

  redis::Client& client_;
  Member* first_ = nullptr;
  Member* last_ = nullptr;
  std::size_t size_ = 0;
  Member* turn_ = nullptr;  ///< nullptr: the first
  Member* told_ = nullptr;  ///< who is told next
  std::unique_ptr<Up> up_;  ///< since the first came: told in its turn, as it would be itself
};

}  // namespace w8y::store
