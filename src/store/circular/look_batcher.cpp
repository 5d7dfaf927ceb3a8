#include "store/circular/look_batcher.hpp"

#include <algorithm>
#include <utility>

#include "core/number.hpp"
#include "redis/client.hpp"
#include "redis/hash_slots.hpp"
#include "store/rights.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

/// Maximum bytes of items read in one call, and the bytes that cost Redis about as much as a
/// command.
constexpr std::size_t most_bytes_read = std::size_t{1} << 20;
constexpr double bytes_of_command = 65536;
/// Number of items whose examination costs Redis about as much as a command.
constexpr double items_of_command = 512;
/// Time in which a list is examined once, and the addition for each item. Redis needs
/// 4 ms for a call, so the interval of calls has a minimum.
constexpr Duration least_pass = std::chrono::milliseconds(600);
constexpr Duration pass_per_item = std::chrono::microseconds(27);
constexpr Duration least_pause = std::chrono::milliseconds(75);

}  // namespace

LookBatcher::LookBatcher(redis::Client& client, Tracking& tracking, TimerQueue& timers,
                         const Clock& clock, bool cluster)
    : client_(client),
      tracking_(tracking),
      clock_(clock),
      cluster_(cluster),
      gather_(timers),
      cost_of_empty_(first_cost()),
      cost_of_locked_(cost_of_empty_),
      alive_(std::make_shared<bool>(true)) {}

LookBatcher::~LookBatcher() {
  *alive_ = false;
}

std::uint16_t LookBatcher::group(const std::string& list) const {
  return cluster_ ? redis::slot_of(list) : std::uint16_t{0};
}

LookBatcher::Empty::Batch::~Batch() {
  for (Empty* list : lists)
    if (list != nullptr) list->batch_ = nullptr;
}

std::string LookBatcher::key_of(const Empty& list) {
  std::string key;
  list.add_key_of_list(key);
  return key;
}

void LookBatcher::Empty::withdraw() {
  if (batch_ != nullptr) batch_->lists[place_] = nullptr;
  batch_ = nullptr;
}

void LookBatcher::Empty::answer(const LookReply& reply) {
  withdraw();
  empty_looked(reply);
}

void LookBatcher::if_empty(Empty& list) {
  auto& batch = empty_[cluster_ ? group(key_of(list)) : std::uint16_t{0}];
  if (!batch) batch = std::make_shared<Empties>();
  list.withdraw();
  list.batch_ = batch.get();
  list.place_ = static_cast<std::uint32_t>(batch->lists.size());
  batch->lists.push_back(&list);
  gather();
}

void LookBatcher::answer(const Empties& batch, std::size_t begin, std::size_t end,
                         const LookReply& reply) {
  for (std::size_t i = begin; i < end; ++i)
    if (Empty* list = batch.lists[i]) list->answer(reply);
}

void LookBatcher::if_locked(Part part, Tracking::Key& key, Answer answer) {
  Lockeds& lists = locked_[group(part.list)];
  Tracking::Peek tracked;
  if (!key.is_tracked() && tracks(part.list)) tracking_.add(tracked, key, part.list);
  lists.push_back({std::move(part), std::move(tracked), std::move(answer)});
  gather();
}

Duration LookBatcher::next_after(std::int64_t length) {
  const std::int64_t calls = (length - 1) / static_cast<std::int64_t>(most_items) + 1;
  if (calls < 2) return {};
  return std::max((least_pass + pass_per_item * length) / calls, least_pause);
}

void LookBatcher::forget_refusals() {
  exists_forbidden_ = false;
}

void LookBatcher::gather() {
  if (!gather_.pending()) gather_.set(clock_.now(), [this] { send(); });
}

void LookBatcher::send() {
  for (const auto& [slot, all] : std::exchange(empty_, {})) {
    for (std::size_t i = 0; i < all->lists.size(); i += most_empty) {
      const std::size_t end = std::min(i + most_empty, all->lists.size());
      cost_of_empty_ = 1.0 / static_cast<double>(end - i);
      ask_empty(all, i, end, cost_of_empty_);
    }
  }
  for (auto& [slot, lists] : std::exchange(locked_, {})) {
    if (lists.size() == 1 && lists.front().look == Look::length && !lists.front().tracked.empty()) {
      ask_length(lists.front());
      continue;
    }
    const auto all = std::make_shared<Lockeds>(std::move(lists));
    for (std::size_t i = 0; i < all->size(); i += most_locked) {
      const std::size_t end = std::min(i + most_locked, all->size());
      const double commands = 1 + ask_to_track(*all, i, end);
      cost_of_locked_ = commands / static_cast<double>(end - i);
      ask_locked(all, i, end, commands);
    }
  }
}

/// Sends a tracked peek at these lists before the script. A script is never a tracked peek, because
/// Redis would track all its keys, also those it does not read. Returns the commands sent: 0 or 1.
double LookBatcher::ask_to_track(const Lockeds& lists, std::size_t begin, std::size_t end) {
  redis::Command command{"EXISTS"};
  Tracking::Peek peek;
  for (std::size_t i = begin; i < end; ++i) {
    if (lists[i].tracked.empty()) continue;
    command.push_back(lists[i].list);
    peek.add(lists[i].tracked);
  }
  if (peek.empty()) return 0;
  tracking_.call(std::move(peek), command, {});
  return 1;
}

void LookBatcher::ask_empty(std::shared_ptr<Empties> batch, std::size_t begin, std::size_t end,
                            double cost) {
  if (exists_forbidden_) return answer(*batch, begin, end, {true, 0});
  std::string keys;  // concatenated
  std::vector<std::size_t> ends;
  ends.reserve(end - begin);
  Tracking::Peek tracked;
  for (std::size_t i = begin; i < end; ++i) {
    if (batch->lists[i] == nullptr) continue;
    const std::size_t begins = keys.size();
    batch->lists[i]->add_key_of_list(keys);
    ends.push_back(keys.size());
    const std::string_view key = std::string_view(keys).substr(begins);
    if (batch->lists[i]->is_tracked() || !tracks(key)) continue;
    tracking_.add(tracked, *batch->lists[i], key);
  }
  if (ends.empty()) return;
  redis::Command command{"EXISTS"};
  command.reserve(1 + ends.size());
  for (std::size_t from = 0; const std::size_t to : ends) {
    command.push_back(std::string_view(keys).substr(from, to - from));
    from = to;
  }
  auto answered = [this, alive = alive_, batch, begin, end, cost](const redis::Answer& got) {
    if (!*alive) return;
    exists_forbidden_ = exists_forbidden_ || forbids_command(got);
    // Without a connection, all lists peek again when it is up: a claim would only fail as well.
    using redis::Failure;
    const bool away = got.failure == Failure::not_sent || got.failure == Failure::lost;
    const bool none = away || (got.ok() && got.reply.integer() == 0);
    if (!none && got.ok() && end - begin > 1) return ask_which(batch, begin, end, cost);
    answer(*batch, begin, end, {!none, cost});
  };
  if (tracked.empty()) return client_.call(command, std::move(answered));
  tracking_.call(std::move(tracked), command, std::move(answered));
}

/// Peeks at each list of a batch in which some lists exist.
void LookBatcher::ask_which(const std::shared_ptr<Empties>& batch, std::size_t begin,
                            std::size_t end, double cost) {
  const auto as_locked = std::make_shared<Lockeds>();
  for (std::size_t i = begin; i < end; ++i) {
    if (batch->lists[i] == nullptr) continue;
    const auto tell = [batch, i, cost](const LookReply& reply, const Seen&) {
      if (Empty* list = batch->lists[i]) list->answer({reply.worth_it, reply.cost + cost});
    };
    as_locked->push_back({{key_of(*batch->lists[i]), {}}, {}, tell});
  }
  for (std::size_t i = 0; i < as_locked->size(); i += most_locked)
    ask_locked(as_locked, i, std::min(i + most_locked, as_locked->size()), 1);
}

/// Peeks at the length of a single list by LLEN, which also tracks the list. Several lists that
/// peek together use EXISTS and the script: two commands for all lists, which examine locks too.
void LookBatcher::ask_length(Locked& list) {
  tracking_.call(std::move(list.tracked), {"LLEN", list.list},
                 [alive = alive_, length = list.length,
                  answer = std::move(list.answer)](const redis::Answer& got) {
                   if (*alive) answer({!got.ok() || got.reply.integer() != length, 1}, {});
                 });
}

/// `cost`: of all lists together, in commands.
void LookBatcher::ask_locked(std::shared_ptr<Lockeds> lists, std::size_t begin, std::size_t end,
                             double cost) {
  if (exists_forbidden_) {  // peek.lua needs EXISTS as well; the following claim is charged
    for (std::size_t i = begin; i < end; ++i) (*lists)[i].answer({true, 0}, {});
    return;
  }
  const std::size_t count = end - begin;
  redis::Command keys;
  const std::string most_bytes = std::to_string(most_bytes_read);
  redis::Command args{most_bytes};
  std::vector<std::string> numbers;  // the arguments point to them, so they must not move
  numbers.reserve(count * 3);
  for (std::size_t i = begin; i < end; ++i) {
    const Locked& list = (*lists)[i];
    keys.push_back(list.list);
    numbers.push_back(std::to_string(list.length));
    numbers.push_back(std::to_string(list.first));
    const bool many = list.look == Look::many;
    numbers.push_back(std::to_string((many ? most_items : most_locked) / count));
    args.insert(args.end(), {list.lock_prefix, numbers[numbers.size() - 3],
                             numbers[numbers.size() - 2], numbers.back()});
  }
  cost /= static_cast<double>(count);
  client_.run(
      scripts::peek, keys, args,
      [alive = alive_, lists, begin, count, cost](const redis::Answer& got) {
        if (!*alive) return;
        // Long items keep Redis as busy as many commands.
        const auto bytes = static_cast<double>(got.reply[count].integer());
        const double all = cost * (1 + bytes / bytes_of_command);
        for (std::size_t i = 0; i < count; ++i) {
          const std::int64_t told =
              read_integer(got.reply[i].integer(), {-count_range.max, count_range.max}).value_or(0);
          Seen seen{std::max<std::int64_t>(-told, 0), {}};
          if (told >= 2) seen.right_of_free = told - 2;
          const double examined = static_cast<double>(seen.items) / items_of_command;
          (*lists)[begin + i].answer({!got.ok() || told > 0, all + examined}, seen);
        }
      });
}

}  // namespace w8y::store
