// PlainLocks::undo: a look at some items at the end of a list, and the release of what is found.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "redis/client.hpp"
#include "store/circular/plain_locks.hpp"
#include "store/circular/plain_words.hpp"

namespace w8y::store {

namespace {

/// Names of locks that are asked for at once: an item stands in each.
constexpr std::size_t most_bytes_of_names = std::size_t{1} << 20;

}  // namespace

class PlainLocks::Undo : public std::enable_shared_from_this<PlainLocks::Undo> {
 public:
  Undo(PlainLocks& locks, const UndoCall& call, Answer<UndoResult> answer)
      : locks_(locks),
        alive_(locks.alive_),
        keys_(call.keys),
        value_prefix_(call.value_prefix),
        runs_(call.runs),
        count_(call.at_once),
        answer_(std::move(answer)) {}

  void begin(std::size_t before) {
    const std::string from = std::to_string(-static_cast<std::int64_t>(before + count_));
    const std::string to = std::to_string(-static_cast<std::int64_t>(before + 1));
    locks_.client_.call({"LRANGE", keys_.list, from, to},
                        [self = shared_from_this()](const redis::Answer& answer) {
                          if (*self->alive_) self->take(answer);
                        });
  }

 private:
  void take(const redis::Answer& answer) {
    if (!answer.ok()) return fail(*trouble_of(answer));
    for (std::size_t i = answer.reply.size(); i > 0; --i) {
      const std::string_view item = answer.reply[i - 1].text();
      result_.bytes += item.size();
      result_.longest = std::max(result_.longest, item.size());
      names_.push_back(keys_.lock_prefix + std::string(item));
    }
    result_.looked = names_.size();
    result_.whole = names_.size() < count_;
    next();
  }

  void next() {
    if (over_) return;
    if (at_ == names_.size()) return finish();
    std::size_t bytes = 0;
    while (at_ < names_.size() &&
           (bytes == 0 || bytes + names_[at_].size() <= most_bytes_of_names)) {
      bytes += names_[at_].size() + 1;
      ++asked_;
      locks_.client_.call({"GETRANGE", names_[at_], "0", most_of_value},
                          [self = shared_from_this(), at = at_](const redis::Answer& answer) {
                            if (*self->alive_) self->look(at, answer);
                          });
      ++at_;
    }
  }

  void look(std::size_t at, const redis::Answer& answer) {
    if (over_) return;
    // A lock of a wrong type is whoever's.
    if (answer.failure != redis::Failure::none || is_about_server(answer.error()))
      return fail(*trouble_of(answer));
    const std::string_view value =
        answer.reply.is_error() ? std::string_view() : answer.reply.text();
    const auto run = std::find_if(runs_.begin(), runs_.end(), [&](const RunId& id) {
      return value.size() == value_prefix_.size() + id.size() && value.starts_with(value_prefix_) &&
             value.ends_with(id);
    });
    if (run != runs_.end()) release(names_[at], *run);
    if (--asked_ == 0) next();
  }

  void release(const std::string& name, const RunId& run) {
    ++asked_;
    const auto decide = [value = value_prefix_ + run, name, run,
                         slots = keys_.slots](const Found& found) -> Change {
      if (found.lock != value) return {};
      return {{{"DEL", name}}, {{"ZREM", slots, run.str()}}};
    };
    locks_.swap(
        name, {}, decide,
        [self = shared_from_this(), run](const Swapped* swapped, const StoreError& trouble) {
          if (self->over_) return;
          if (swapped == nullptr) return self->fail(trouble);
          self->result_.freed.push_back(run);
          if (--self->asked_ == 0) self->next();
        });
  }

  void finish() {
    over_ = true;
    if (!result_.freed.empty()) locks_.client_.call({"PUBLISH", keys_.wake, "free"});
    answer_(&result_, {});
  }

  void fail(const StoreError& trouble) {
    over_ = true;
    answer_(nullptr, trouble);
  }

  PlainLocks& locks_;
  std::shared_ptr<bool> alive_;
  CircularKeys keys_;
  std::string value_prefix_;
  std::vector<RunId> runs_;
  std::size_t count_;
  Answer<UndoResult> answer_;
  UndoResult result_;
  std::vector<std::string> names_;
  std::size_t at_ = 0;
  std::size_t asked_ = 0;  ///< and not answered yet
  bool over_ = false;
};

void PlainLocks::undo(const UndoCall& call, Answer<UndoResult> answer) {
  std::make_shared<Undo>(*this, call, std::move(answer))->begin(call.before);
}

}  // namespace w8y::store
