#include "store/circular/members.hpp"

#include "redis/client.hpp"

namespace w8y::store {

class Members::Up final : private redis::Client::Listener {
 public:
  Up(redis::Client& client, Members& members)
      : redis::Client::Listener(client), members_(members) {}

 private:
  void on_up() override { members_.connected(); }
  void on_down(const std::string&) override {}

  Members& members_;
};

Members::Members(redis::Client& client) : client_(client) {}

Members::~Members() = default;

Members::Member::Member(Members& members) : members_(members), before_(members.last_) {
  (before_ != nullptr ? before_->after_ : members_.first_) = this;
  members_.last_ = this;
  ++members_.size_;
  if (!members_.up_) members_.up_ = std::make_unique<Up>(members_.client_, members_);
}

Members::Member::~Member() {
  if (members_.turn_ == this) members_.turn_ = after_;
  if (members_.told_ == this) members_.told_ = after_;
  (before_ != nullptr ? before_->after_ : members_.first_) = after_;
  (after_ != nullptr ? after_->before_ : members_.last_) = before_;
  --members_.size_;
}

Members::Member* Members::next_in_turn() {
  Member* next = turn_ != nullptr ? turn_ : first_;
  if (next != nullptr) turn_ = next->after_;
  return next;
}

void Members::turn_back() {
  turn_ = turn_ != nullptr && turn_->before_ != nullptr ? turn_->before_ : last_;
}

/// They may come and go while they are told.
void Members::connected() {
  for (told_ = first_; told_ != nullptr;) {
    Member* member = told_;
    told_ = member->after_;
    member->on_up();
  }
}

}  // namespace w8y::store
