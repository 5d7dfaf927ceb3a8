// PlainLocks::claim: past what is locked, many at a time.
#include <algorithm>
#include <utility>

#include "store/circular/plain_claim.hpp"
#include "store/rights.hpp"

namespace w8y::store {

namespace {

/// Items that one pass looks at, behind those that were looked at one by one.
constexpr std::int64_t most_ahead = 4096;
/// So many are turned past one by one. What is free behind more changes places with what is at the
/// left end.
constexpr std::int64_t most_turned = 32;
/// Where only the ends are looked at, at the left one.
constexpr std::int64_t most_at_left = 64;
/// WATCH, four reads, MULTI and EXEC.
constexpr std::size_t commands_to_bring = 7;

}  // namespace

/// At those that come next, as many as can be read at once, and so on while all are locked: these
/// stay where they are, since one turn of the whole list would change nothing.
void PlainLocks::ClaimPass::look_ahead(std::int64_t from) {
  // What is known of the items is how long those are that were read.
  const std::size_t most = at_once(std::max(known_longest_, result_.longest));
  piece_ = std::min({2 * piece_, most, most_read_ahead_});
  const std::int64_t count = std::min(static_cast<std::int64_t>(piece_), result_.left);
  ask({"LRANGE", keys_.list, std::to_string(from), std::to_string(from + count - 1)},
      [this, from](const redis::Reply& reply) {
        ahead_.clear();
        for (std::size_t i = 0; i < reply.size(); ++i) {
          ahead_.emplace_back(reply[i].text());
          result_.bytes += ahead_.back().size();
          result_.longest = std::max(result_.longest, ahead_.back().size());
        }
        if (!ahead_.empty()) return are_locked(from);
        result_.left = 0;  // the list is shorter by now
        next();
      });
}

void PlainLocks::ClaimPass::are_locked(std::int64_t from) {
  std::vector<std::string> names;
  for (const Item& item : ahead_) names.push_back(keys_.lock_prefix + item);
  redis::Command command{"EXISTS"};
  command.insert(command.end(), names.begin(), names.end());
  const auto count = static_cast<std::int64_t>(names.size());
  call(command, [self = shared_from_this(), from, count](const redis::Answer& answer) {
    if (self->over_ || !*self->alive_) return;
    if (answer.ok()) return self->locked(answer.reply.integer() == count, from, count);
    if (!forbids_command(answer)) return self->fail(answer);
    self->look_ahead_at_ = SIZE_MAX;
    self->turn(from);
  });
}

void PlainLocks::ClaimPass::locked(bool all, std::int64_t from, std::int64_t count) {
  if (!all) return find_free(from);
  result_.left -= count;
  if (result_.left == 0) return next();
  if (ends_ && from + count >= most_at_left) return look_at_right(from + count);
  if (from + count < most_ahead && result_.bytes < most_bytes_looked_at)
    return look_ahead(from + count);
  looked_ = most_looked_at;
  turn(from + count);
}

/// What is added comes to the right end, and so does what was taken.
void PlainLocks::ClaimPass::look_at_right(std::int64_t seen) {
  const auto first = result_.length - static_cast<std::int64_t>(most_read_ahead_);
  if (!std::exchange(seen_right_, true)) return look_ahead(std::max(first, seen));
  result_.status = ClaimStatus::none;
  finish();
}

/// Asks which of those that were read ahead are free.
void PlainLocks::ClaimPass::find_free(std::int64_t from) {
  free_.clear();
  for (std::size_t i = 0; i < ahead_.size(); ++i)
    ask({"EXISTS", keys_.lock(ahead_[i])}, [this, from, i](const redis::Reply& reply) {
      if (reply.integer() == 0 && free_.size() < runs_.size()) free_.push_back(i);
      if (i + 1 == ahead_.size()) go_to_free(from);
    });
}

void PlainLocks::ClaimPass::go_to_free(std::int64_t from) {
  // Others had it first.
  if (free_.empty()) return locked(true, from, static_cast<std::int64_t>(ahead_.size()));
  if (from > most_turned) return bring(from);
  const auto before = static_cast<std::int64_t>(free_.front());
  look_ahead_at_ = looked_ + free_.back() - free_.front() + 1;
  result_.left -= before;
  turn(from + before);
}

/// What is free and what stands at the left end change places; what is at the left end is taken
/// next. EXEC does nothing if the list was changed meanwhile, so the numbers of two places say all.
/// One command does both halves, so that no ACL can allow only one of them. In a list that others
/// change all the time, one item is taken where it stands instead.
void PlainLocks::ClaimPass::bring(std::int64_t from) {
  const auto there = std::make_shared<bool>(false);
  const auto decide = [self = shared_from_this(), from, there](const Found& found) {
    Change change;
    const auto& behind = found.reads[0].elements;
    const auto& left = found.reads[1].elements;
    const auto& free = self->free_;
    *there = left.size() == free.size() && std::ranges::all_of(free, [&](std::size_t i) {
               return i < behind.size() && behind[i].text == self->ahead_[i];
             });
    for (std::size_t k = 0; *there && k < free.size(); ++k) {
      const std::string at = std::to_string(from + static_cast<std::int64_t>(free[k]));
      change.commands.push_back({"LSET", self->keys_.list, at, left[k].text});
      change.commands.push_back(
          {"LSET", self->keys_.list, std::to_string(k), self->ahead_[free[k]]});
    }
    return change;
  };
  result_.commands += commands_to_bring + 2 * free_.size();
  const std::string last = std::to_string(from + static_cast<std::int64_t>(ahead_.size()) - 1);
  locks_.swap(
      keys_.list,
      {{"LRANGE", keys_.list, std::to_string(from), last},
       {"LRANGE", keys_.list, "0", std::to_string(free_.size() - 1)}},
      decide,
      [self = shared_from_this(), from, there](const Swapped* swapped, const StoreError&) {
        if (!*self->alive_) return;
        const bool done = swapped != nullptr && swapped->done && *there;
        // What trouble there is, the next command tells of.
        if (!done && swapped != nullptr && --self->tries_ > 0) return self->look_ahead(from);
        self->all_locked_ = from;
        self->look_ahead_at_ = self->looked_ + (done ? self->free_.size() : 1);
        if (done) return self->next();
        self->in_place_ = self->ahead_[self->free_.front()];
        self->reach();
      },
      Watched::list);
}

/// Past what is locked.
void PlainLocks::ClaimPass::turn(std::int64_t by) {
  for (; by > 1; --by)
    ask({"LMOVE", keys_.list, keys_.list, "LEFT", "RIGHT"}, [](const redis::Reply&) {});
  if (by == 0) return next();
  ask({"LMOVE", keys_.list, keys_.list, "LEFT", "RIGHT"}, [this](const redis::Reply&) { next(); });
}

}  // namespace w8y::store
