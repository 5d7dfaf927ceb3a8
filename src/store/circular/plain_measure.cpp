// PlainLocks::measure: by the items whose visits are noted, since others can't be cut before they
// are read.
#include <algorithm>
#include <memory>
#include <utility>

#include "core/number.hpp"
#include "redis/client.hpp"
#include "store/circular/plain_locks.hpp"
#include "store/circular/plain_words.hpp"

namespace w8y::store {

namespace {

constexpr std::size_t most_noted = 64;
/// Items that are read to be noted, in one call.
constexpr std::size_t noted_at_once = 8;
/// Items of a list that are compared to see whether one is still in it.
constexpr const char* most_compared_here = "32768";

}  // namespace

std::optional<VisitNote> read_visit_note(std::string_view text) {
  if (text.size() >= 128) return std::nullopt;
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  VisitNote note;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::int64_t* number : {&note.visit, &note.gap, &note.free}) {
    const char* const next = std::find(at, end, ' ');
    const auto read = read_integer(std::string_view(at, next), ms_range);
    if (!read) return std::nullopt;
    *number = *read;
    at = next < end ? next + 1 : next;
  }
  return at == end ? std::optional(note) : std::nullopt;
}

std::string to_text(const VisitNote& note) {
  std::string text =
      std::to_string(note.visit) + " " + std::to_string(note.gap) + " " + std::to_string(note.free);
  text.resize(std::max<std::size_t>(text.size(), 65), ' ');  // as in measure.lua
  return text;
}

class PlainLocks::Measure : public std::enable_shared_from_this<PlainLocks::Measure> {
 public:
  Measure(PlainLocks& locks, CircularKeys keys, Answer<MeasureResult> answer)
      : client_(locks.client_),
        alive_(locks.alive_),
        keys_(std::move(keys)),
        answer_(std::move(answer)) {}

  void begin() {
    const std::string most = std::to_string(most_noted);
    ask({"TIME"}, [this](const redis::Answer& answer) {
      now_ = redis::server_time(answer.reply).count();
      seed_ = static_cast<std::uint64_t>(answer.reply[1].integer());
    });
    ask({"HLEN", keys_.quarantined}, [this](const redis::Answer& answer) {
      measured_.quarantined = answer.ok() ? count_of(answer.reply) : 0;
    });
    ask({"HRANDFIELD", keys_.visits, most, "WITHVALUES"},
        [this](const redis::Answer& answer) { take_notes(answer); });
    ask({"LLEN", keys_.list}, [this](const redis::Answer& answer) {
      measured_.length = answer.ok() ? count_of(answer.reply) : 0;
      measured_.quarantined = std::min(measured_.quarantined, measured_.length);
      look_at_locks();
    });
  }

 private:
  struct Noted : VisitNote {
    Item item;
    bool locked = false;
    bool gone = false;
    std::int64_t wait = 0;
  };

  static std::uint64_t count_of(const redis::Reply& reply) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, reply.integer()));
  }

  /// An error reply is `then`'s; without an answer it is over.
  void ask(const redis::Command& command, std::function<void(const redis::Answer&)> then) {
    client_.call(command,
                 [self = shared_from_this(), then = std::move(then)](const redis::Answer& answer) {
                   if (self->over_ || !*self->alive_) return;
                   if (answer.failure == redis::Failure::none) return then(answer);
                   self->over_ = true;
                   self->answer_(nullptr, *trouble_of(answer));
                 });
  }

  void take_notes(const redis::Answer& answer) {
    usable_ = answer.ok();
    for (std::size_t i = 0; usable_ && i + 1 < answer.reply.size(); i += 2) {
      const auto note = read_visit_note(answer.reply[i + 1].text());
      Noted& noted = notes_.emplace_back();
      noted.item = answer.reply[i].text();
      noted.gone = !note;
      if (note) static_cast<VisitNote&>(noted) = *note;
    }
  }

  void look_at_locks() {
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      const std::string lock = keys_.lock(notes_[i].item);
      ask({"PTTL", lock}, [this, i](const redis::Answer& answer) {
        notes_[i].locked = answer.reply.integer() != not_there;
        left_ = read_integer(answer.reply.integer(), ms_range).value_or(0);
      });
      ask({"GETRANGE", lock, "0", "4"}, [this, i](const redis::Answer& answer) {
        note_lock(notes_[i], answer.ok() ? answer.reply.text() : "");
      });
    }
    // The last one comes last.
    ask({"LLEN", keys_.list}, [this](const redis::Answer&) { sort_out(); });
  }

  void note_lock(Noted& noted, std::string_view value) {
    if (!noted.locked) {
      ++free_;
      noted.wait = std::max<std::int64_t>(0, now_ - std::max(noted.visit, noted.free));
      return;
    }
    const bool rests = value == "rest:";
    noted.gone = noted.gone || value == "quara";
    ++(rests ? resting_ : running_);
    noted.free = now_ + (rests ? left_ : 0);
  }

  void sort_out() {
    estimate();
    std::vector<std::int64_t> gaps;
    for (const Noted& noted : notes_)
      if (noted.gap > 0 && !noted.gone) gaps.push_back(noted.gap);
    std::sort(gaps.begin(), gaps.end());
    if (!gaps.empty()) measured_.lap = WallTime(gaps[(gaps.size() - 1) / 2]);
    find_oldest();
  }

  void estimate() {
    const std::uint64_t looked = free_ + running_ + resting_;
    measured_.estimated = measured_.length > looked;
    std::uint64_t left = measured_.length - measured_.quarantined;
    const auto share = [&](std::uint64_t found) {
      const std::uint64_t items =
          looked == 0 ? 0
                      : (found * (measured_.length - measured_.quarantined) + looked / 2) / looked;
      left -= std::min(items, left);
      return items;
    };
    measured_.running = std::min(share(running_), measured_.length);
    measured_.resting = share(resting_);
    measured_.free = left;
  }

  /// The one that waits for longest, if it is still in its list.
  void find_oldest() {
    Noted* oldest = nullptr;
    for (Noted& noted : notes_)
      if (!noted.locked && !noted.gone && (oldest == nullptr || noted.wait > oldest->wait))
        oldest = &noted;
    if (oldest == nullptr) {
      if (!notes_.empty()) measured_.oldest = WallTime(0);
      return note_more();
    }
    ask({"LPOS", keys_.list, oldest->item, "MAXLEN", most_compared_here},
        [this, oldest](const redis::Answer& answer) {
          oldest->gone = answer.reply.is_nil();
          if (oldest->gone) return find_oldest();
          measured_.oldest = WallTime(oldest->wait);
          note_more();
        });
  }

  void note_more() {
    const std::uint64_t wanted = std::min<std::uint64_t>(most_noted, measured_.length);
    std::uint64_t there = 0;
    for (const Noted& noted : notes_) there += noted.gone ? 0 : 1;
    const std::uint64_t more =
        usable_ && wanted > there ? std::min<std::uint64_t>(noted_at_once, wanted - there) : 0;
    for (std::uint64_t i = 0; i < more; ++i) {
      // Neighbours, from a place that is another one each time: a short list is soon known.
      const std::string at = std::to_string((seed_ + i) % measured_.length);
      ask({"LRANGE", keys_.list, at, at}, [this](const redis::Answer& answer) {
        if (!answer.ok() || answer.reply.size() != 1) return;
        note(answer.reply[0].text());
      });
    }
    ask({"LLEN", keys_.list}, [this](const redis::Answer&) { write(); });
  }

  void note(std::string_view item) {
    if (item.size() > MeasureCall::longest_noted) return;
    const auto is_it = [&](const Noted& noted) { return noted.item == item; };
    if (std::any_of(notes_.begin(), notes_.end(), is_it)) return;
    Noted& noted = notes_.emplace_back();
    noted.item = item;
    noted.free = now_;
    noted.locked = true;  // to be written
  }

  /// Where a claim comes between, its visit is lost: one of many.
  void write() {
    if (usable_) {
      for (const Noted& noted : notes_) {
        if (noted.gone) {
          client_.call({"HDEL", keys_.visits, noted.item});
        } else if (noted.locked) {
          client_.call({"HSET", keys_.visits, noted.item, to_text(noted)});
        }
      }
      client_.call({"PEXPIRE", keys_.visits, ms_text(MeasureCall::life)});
    }
    over_ = true;
    MeasureResult result;
    result.now = WallTime(now_);
    result.lists.push_back(measured_);
    answer_(&result, {});
  }

  redis::Client& client_;
  std::shared_ptr<bool> alive_;
  const CircularKeys keys_;
  Answer<MeasureResult> answer_;
  Measured measured_;
  std::vector<Noted> notes_;
  bool usable_ = false;  ///< of `visits`, the type is right
  std::int64_t now_ = 0;
  std::uint64_t seed_ = 0;
  std::int64_t left_ = 0;  ///< of the lock that is looked at
  std::uint64_t free_ = 0;
  std::uint64_t running_ = 0;
  std::uint64_t resting_ = 0;
  bool over_ = false;
};

/// Of the first list only: it takes some commands for each item that is looked at.
void PlainLocks::measure(const MeasureCall& call, Answer<MeasureResult> answer) {
  std::make_shared<Measure>(*this, call.lists.front(), std::move(answer))->begin();
}

}  // namespace w8y::store
