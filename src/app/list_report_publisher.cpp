#include "app/list_report_publisher.hpp"

#include <utility>
#include <variant>

namespace w8y::app {

namespace {

/// Time for which changes of lists are collected.
constexpr Duration gathering = std::chrono::milliseconds(50);
/// Interval of iterations over all lists, and the minimum interval after changes.
constexpr Duration walk_interval = std::chrono::seconds(20);
constexpr Duration walk_gap = std::chrono::milliseconds(500);
/// Maximum number of changed lists that are read individually.
constexpr std::size_t max_single = 256;

/// Returns the list whose state an event may change, except by starts and ends of runs.
struct ChangedList {
  std::string_view operator()(const ListChanged& event) const { return event.prefix; }
  std::string_view operator()(const ShortageChanged& event) const { return event.of.prefix; }
  std::string_view operator()(const ClaimsRefused& event) const { return event.of.prefix; }
  std::string_view operator()(const ListPaused& event) const { return event.of.prefix; }
  std::string_view operator()(const BreakerChanged& event) const { return event.of.prefix; }
  template <typename Other>
  std::string_view operator()(const Other&) const {
    return {nullptr, 0};
  }
};

}  // namespace

ListReportPublisher::ListReportPublisher(const Clock& clock, TimerQueue& timers,
                                         const Supervisor& supervisor, std::function<void()> urgent)
    : clock_(clock),
      supervisor_(supervisor),
      urgent_(std::move(urgent)),
      walks_(clock, timers, supervisor, *this),
      check_timer_(timers),
      walk_(timers) {}

void ListReportPublisher::set_wanted(bool wanted) {
  wanted_ = wanted;
  published_.forget();
  due_.clear();
  if (wanted) return check_all();
  check_timer_.cancel();
  walk_.cancel();
}

void ListReportPublisher::on_event(const Event& event) {
  if (!wanted_) return;
  // Quiet and drain are part of the state of each list.
  if (std::holds_alternative<HostChanged>(event)) return check_all();
  const std::string_view prefix = std::visit(ChangedList{}, event);
  if (prefix.data() != nullptr) check_list(prefix);
}

void ListReportPublisher::check_list(std::string_view prefix) {
  if (due_.size() >= max_single) return check_all();
  due_.emplace(prefix);
  if (!check_timer_.pending()) check_timer_.set(clock_.now() + gathering, [this] { check(); });
}

void ListReportPublisher::check() {
  for (const std::string& prefix : std::exchange(due_, {}))
    if (const auto list = find_list(supervisor_, *this, prefix)) published_.record(*list);
  if (published_.urgent()) urgent_();
}

void ListReportPublisher::check_all() {
  if (!wanted_) return;
  walk_again_ = walking_;
  if (walking_) return;
  const Instant soon = clock_.now() + gathering;
  if (walk_.pending() && walk_.deadline() <= soon) return;
  walk_.set(soon, [this] {
    walking_ = true;
    published_.begin();
    walks_.begin([this](const ListStatus& list, const ServedList&) { published_.record(list); },
                 [this] { walked(); });
  });
}

void ListReportPublisher::walked() {
  walking_ = false;
  published_.end();
  if (!wanted_) return;
  if (published_.urgent()) urgent_();
  walk_.set(clock_.now() + (std::exchange(walk_again_, false) ? walk_gap : walk_interval),
            [this] { check_all(); });
}

}  // namespace w8y::app
