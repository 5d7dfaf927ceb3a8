#include "store/thoonk/job_maintenance.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "core/item.hpp"
#include "core/job_settings.hpp"
#include "core/number.hpp"
#include "store/run_record.hpp"
#include "store/scripts.hpp"
#include "store/store_error.hpp"

namespace w8y::store::thoonk {

namespace {

/// Number of entries that one call examines: at first, and at most. page_bytes is the target size
/// of a page.
constexpr std::size_t first_page = 8;
constexpr std::size_t most_ids = 512;
constexpr std::size_t most_items = 128;
constexpr std::int64_t page_bytes = std::int64_t{64} << 10;
constexpr std::size_t claims_page = 128;
constexpr const char* leftovers_page = "256";
/// Number of IDs per call that are checked; each may be compared with 20,000 IDs.
constexpr std::size_t check_page = 4;
/// Maximum number of IDs that one pass searches for. The next pass finds the others.
constexpr std::size_t most_not_found = 1000;
/// Number of intervals after which everything is examined even if the counts are consistent.
constexpr std::int64_t whole_every = 10;

std::uint64_t fingerprint(const std::string& id) {
  return std::hash<std::string_view>{}(id);
}

ScriptCall recovery(const FeedKeys& keys, unsigned max_failures, const HistoryLimits& history) {
  return {&scripts::job_recover,
          {keys.ids, keys.claimed, keys.cancelled, keys.stalled, keys.published, keys.taken,
           keys.slots, keys.runs},
          {keys.lease_prefix, keys.wake, std::to_string(max_failures), to_text(history),
           std::to_string(item_shown)}};
}

}  // namespace

MaintenanceTerms maintenance_terms(const ListConfig& rule, std::string who) {
  return {std::move(who),
          rule.max_failures,
          history_of(rule, false),
          rule.job().claim_timeout,
          rule.job().maintenance_interval,
          false};
}

ScriptCall recover_call(const FeedKeys& keys, const ListConfig& rule) {
  return recovery(keys, rule.max_failures, history_of(rule, false));
}

JobMaintenance::JobMaintenance(const FeedKeys& keys, MaintenanceTerms terms)
    : keys_(keys), terms_(std::move(terms)) {}

ScriptCall JobMaintenance::step(std::vector<std::string> arguments) const {
  const ScriptCall call{
      &scripts::job_maintain,
      {keys_.config, keys_.ids, keys_.items, keys_.claimed, keys_.cancelled, keys_.stalled,
       keys_.published, keys_.taken, keys_.runs, keys_.nowhere, keys_.maintained},
      {keys_.lease_prefix, keys_.wake, std::to_string(terms_.max_failures), to_text(terms_.history),
       std::to_string(item_shown), terms_.who, ms_text(terms_.interval)}};
  return call.with(arguments);
}

std::optional<ScriptCall> JobMaintenance::next() const {
  switch (step_) {
    case Step::begin:
      return step({"begin", terms_.always ? "1" : "0"});
    case Step::recover:
      return recovery(keys_, terms_.max_failures, terms_.history)
          .with({cursor_, std::to_string(claims_page)});
    case Step::claims:
      return step({"claims", std::to_string(place_), std::to_string(claims_page),
                   ms_text(terms_.claim_timeout)});
    case Step::reruns:
      return step({"reruns", cursor_, std::to_string(page_)});
    case Step::ids:
    case Step::ids_again:
      return step({"ids", std::to_string(place_), std::to_string(page_)});
    case Step::items:
      return step({"items", cursor_, std::to_string(page_)});
    case Step::check: {
      std::vector<std::string> words{"check", look_};
      for (const std::string& id : not_found_) {
        if (words.size() == 2 + check_page) break;
        words.push_back(id);
      }
      return step(std::move(words));
    }
    case Step::sweep:
      return step({"sweep", look_, cursor_});
    case Step::leftovers:
      return ScriptCall{&scripts::job_cleanup,
                        {keys_.items, *leftovers_.back().first},
                        {cursor_, leftovers_page}};
    case Step::over:
      break;
  }
  return std::nullopt;
}

void JobMaintenance::answered(const redis::ReplyCopy& reply) {
  if (reply.elements.empty()) {  // another host does it now
    result_.counts = {};
    step_ = Step::over;
    return;
  }
  switch (step_) {
    case Step::begin:
      return begun(reply);
    case Step::recover:
      result_.taken_back += static_cast<std::size_t>(reply.elements.at(2).number);
      cursor_ = reply.elements.front().text;
      if (cursor_ == "0") step_ = Step::claims;
      return;
    case Step::claims:
      result_.taken_back += static_cast<std::size_t>(reply.elements.at(1).number);
      result_.claimed += static_cast<std::size_t>(reply.elements.at(2).number);
      if (reply.elements.front().number < 0) return after_claims();
      place_ = static_cast<std::size_t>(reply.elements.front().number);
      return;
    case Step::reruns:
      resize(reply.elements.at(1).number, most_ids);
      cursor_ = reply.elements.front().text;
      if (cursor_ == "0" && reply.elements.at(2).number == 0) after_reruns();
      return;
    case Step::ids:
    case Step::ids_again:
      return note_ids(reply);
    case Step::items:
      return note_items(reply);
    case Step::check:
      result_.put_back += static_cast<std::size_t>(reply.elements.front().number);
      result_.nowhere += static_cast<std::size_t>(reply.elements.at(1).number);
      for (std::size_t i = 0; i < check_page && !not_found_.empty(); ++i)
        not_found_.erase(not_found_.begin());
      if (not_found_.empty()) step_ = Step::sweep;
      return;
    case Step::sweep:
      cursor_ = reply.elements.front().text;
      if (cursor_ == "0") next_leftovers();
      return;
    case Step::leftovers:
      *leftovers_.back().second += static_cast<std::size_t>(reply.elements.at(1).number);
      cursor_ = reply.elements.front().text;
      if (cursor_ != "0") return;
      leftovers_.pop_back();
      return next_leftovers();
    case Step::over:
      return;
  }
}

void JobMaintenance::begun(const redis::ReplyCopy& reply) {
  if (reply.elements.front().number == 0) {
    result_.next = read_ms(reply.elements.at(1).number)
                       .value_or(std::chrono::duration_cast<WallTime>(terms_.interval));
    result_.other = reply.elements.at(2).text;
    step_ = Step::over;
    return;
  }
  const auto number = [&](std::size_t i) { return reply.elements.at(i).number; };
  look_ = std::to_string(number(1));
  result_.counts = {WallTime(number(1)), number(3), number(4), number(5)};
  const std::int64_t interval = std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::milliseconds>(terms_.interval).count());
  whole_ = terms_.always || number(2) != number(3) + number(4) + number(5) || number(6) > 0 ||
           number(1) / interval % whole_every == 0;
  if (whole_)
    leftovers_ = {{&keys_.keep, &result_.keep},
                  {&keys_.stalled, &result_.stalled},
                  {&keys_.cancelled, &result_.cancelled}};
  // The set has one entry per job that is not stalled, and entries of jobs that other clients have
  // finished.
  if (terms_.always || number(7) > number(2) - number(5))
    leftovers_.emplace_back(&keys_.published, &result_.published);
  step_ = Step::recover;
}

void JobMaintenance::next_leftovers() {
  step_ = leftovers_.empty() ? Step::over : Step::leftovers;
}

void JobMaintenance::after_claims() {
  step_ = Step::reruns;
  cursor_ = "0";
  page_ = first_page;
}

void JobMaintenance::after_reruns() {
  step_ = whole_ ? Step::ids : Step::sweep;
  place_ = 0;
  cursor_ = "0";
  page_ = first_page;
}

/// Adapts the page size: it grows to an efficient size, and shrinks if IDs or payloads are long.
void JobMaintenance::resize(std::int64_t bytes, std::size_t most) {
  if (bytes > page_bytes) {
    page_ = std::max<std::size_t>(1, page_ / 2);
  } else if (bytes * 2 <= page_bytes) {
    page_ = std::min(most, page_ * 2);
  }
}

void JobMaintenance::note_ids(const redis::ReplyCopy& reply) {
  const std::size_t count = reply.elements.size() - 1;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::string& id = reply.elements[i].text;
    if (step_ == Step::ids) {
      queued_.push_back(fingerprint(id));
    } else {
      not_found_.erase(id);
    }
  }
  // Jobs that are added meanwhile move the others to the right: they are read twice, and none is
  // missed.
  place_ += count;
  const bool last = count < page_;
  resize(reply.elements.front().number, most_ids);
  if (last) after_ids();
}

void JobMaintenance::after_ids() {
  place_ = 0;
  page_ = first_page;
  if (step_ == Step::ids) {
    std::sort(queued_.begin(), queued_.end());
    step_ = Step::items;
    cursor_ = "0";
    return;
  }
  step_ = not_found_.empty() ? Step::sweep : Step::check;
}

void JobMaintenance::note_items(const redis::ReplyCopy& reply) {
  for (std::size_t i = 2; i < reply.elements.size() && not_found_.size() < most_not_found; ++i) {
    const std::string& id = reply.elements[i].text;
    if (!std::binary_search(queued_.begin(), queued_.end(), fingerprint(id))) not_found_.insert(id);
  }
  resize(reply.elements.at(1).number, most_items);
  cursor_ = reply.elements.front().text;
  if (cursor_ != "0") return;
  queued_ = {};
  page_ = first_page;
  step_ = not_found_.empty() ? Step::sweep : Step::ids_again;
}

}  // namespace w8y::store::thoonk
