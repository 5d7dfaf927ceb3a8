#include "app/fleet_stats_collector.hpp"

#include <algorithm>
#include <utility>

#include "core/circular_settings.hpp"
#include "operator/fleet.hpp"
#include "view/list_view.hpp"

namespace w8y::app {

namespace {

/// Whether something is to be done is looked at so often; most times it is not.
constexpr Duration look_interval = std::chrono::seconds(2);
/// After a beat at which figures were due, others than who asked last come within this time.
constexpr Duration after_asker = std::chrono::milliseconds(400);
constexpr Duration spread = std::chrono::milliseconds(1200);
/// Who asks takes along what is due so soon, so that lists come to be asked about together.
constexpr Duration taken_along = std::chrono::seconds(3);
/// Where another asks, it is looked again after this, twice as long each time.
constexpr Duration first_patience = std::chrono::milliseconds(700);
constexpr unsigned most_in_vain = 4;
/// The hosts' lists are read so often, to count their places.
constexpr Duration places_interval = std::chrono::seconds(30);
/// Approximate number of bytes of the hosts' lists that one step reads.
constexpr std::size_t places_at_once = std::size_t{4} << 20;
/// Fields that are older are of lists that nobody has any more.
constexpr Duration field_life = std::chrono::minutes(10);
/// Lists that are told of together.
constexpr std::size_t most_unwritten = 64;
constexpr Duration prolong_after = std::chrono::seconds(4);

Duration overdue_after(const Rule& rule) {
  return rule.kind() == SourceKind::circular ? rule.circular().overdue_after : Duration{0};
}

/// Whether its figures are wanted before it has had a run: a schedule all of whose jobs are BAD has
/// none.
bool is_watched(const Rule& rule) {
  return rule.kind() == SourceKind::schedule || overdue_after(rule) > Duration{0};
}

/// While this host has not examined all jobs of a schedule once, the counts of the host before
/// stand.
void keep_counts(ListFigures& figures, const ListFigures& before) {
  for (auto& [state, count] : figures.items)
    for (const auto& [known, items] : before.items)
      if (state == known && (state == "bad" || state == "died")) count = std::max(count, items);
}

/// Whether a host in this state takes items of the list, or would if there were any.
bool serves(ListState state) {
  return state == ListState::running || state == ListState::idle || state == ListState::full ||
         state == ListState::paused || state == ListState::starved ||
         state == ListState::unavailable;
}

}  // namespace

Figures::Figures(Parts parts, const std::string& fleet)
    : parts_(std::move(parts)),
      shared_(parts_.member.client(), parts_.session->subscriber, fleet, parts_.member.id(),
              [this](const std::string& name, const std::string& text) { heard(name, text); }),
      measuring_(parts_.loop, parts_.session, parts_.cluster,
                 [this](const RulePtr& rule, const std::optional<ListFigures>& figures) {
                   told(rule, figures);
                 }),
      next_(parts_.loop.timers()),
      spread_(Duration(
          static_cast<Duration::rep>(parts_.seed % static_cast<std::uint64_t>(spread.count())))) {
  parts_.known.forget();
  next_.set(parts_.loop.now() + look_interval, [this] { look(); });
}

Figures::~Figures() {
  if (measuring_.busy() && parts_.accepted) shared_.give_right_back();
}

WallTime Figures::redis_now() const {
  return parts_.member.time().at(parts_.loop.now());
}

// ---- reading what was told

void Figures::look() {
  next_.set(parts_.loop.now() + look_interval, [this] { look(); });
  look_for_late();
  if (reading_ || measuring_.busy() || !parts_.member.client().connected() ||
      !parts_.member.time().known())
    return;
  if (parts_.loop.now() < read_at_ && (in_vain_ > 0 || !has_news())) return;
  // Who may not use the fleet's keys asks for itself, and nobody hears of it.
  if (!parts_.accepted) return take({}, 1);
  shared_.listen();
  reading_ = true;
  shared_.read([this](bool ok, store::FleetFigures::Fields&& fields, std::size_t commands) {
    reading_ = false;
    take(ok ? std::move(fields) : store::FleetFigures::Fields(), commands);
  });
}

/// A list has begun to live, and nothing is known of it.
bool Figures::has_news() const {
  const auto lists = living();
  return std::any_of(lists.begin(), lists.end(), [this](const RulePtr& rule) {
    return parts_.known.find(rule->prefix) == nullptr && is_due(rule, {});
  });
}

void Figures::take(store::FleetFigures::Fields&& fields, std::size_t commands) {
  const WallTime now = redis_now();
  for (const auto& [name, text] : fields) take_field(name, text, now);
  look_for_late();
  commands_ = static_cast<int>(std::clamp<std::size_t>(commands, 1, 100));
  if (due({}).empty() && !counts_due()) {
    in_vain_ = 0;
    return rest();
  }
  if (!parts_.accepted) return ask();
  shared_.take_right([this, old = std::move(fields)](bool taken) {
    asks_ = taken;
    if (taken) {
      in_vain_ = 0;
      std::vector<std::string> gone;
      for (const auto& [name, text] : old) {
        const auto figures = parse_figures(text);
        if (name.starts_with(store::FleetFigures::list_field) &&
            (!figures || figures->at + field_life < redis_now()))
          gone.push_back(name);
      }
      shared_.remove(gone);
      return ask();
    }
    read_at_ = parts_.loop.now() + first_patience * (1 << in_vain_) + spread_ / 4;
    in_vain_ = std::min(in_vain_ + 1, most_in_vain);
    next_.set(read_at_, [this] { look(); });
  });
}

void Figures::take_field(const std::string& name, const std::string& text, WallTime now) {
  const std::string_view tag = store::FleetFigures::list_field;
  if (name == store::FleetFigures::fleet_field) {
    const auto counts = parse_fleet_counts(text);
    if (counts && counts->at <= now + std::chrono::minutes(1)) parts_.known.note(*counts);
    return;
  }
  if (!name.starts_with(tag)) return;
  const std::string prefix = name.substr(tag.size());
  if (!parts_.supervisor.lists().contains(prefix)) return;
  const auto figures = parse_figures(text);
  if (!figures || figures->at > now + std::chrono::minutes(1)) return;
  parts_.known.note(prefix, *figures, std::max<Duration>(Duration{0}, now - figures->at));
}

/// Until the first figures are due; then who asked last comes first. However many lists there are,
/// who only reads sends one command a period.
void Figures::rest() {
  Instant due_at = parts_.loop.now() + figures_period;
  for (const RulePtr& rule : living()) {
    const auto age = parts_.known.age(rule->prefix);
    const ListFigures* figures = parts_.known.find(rule->prefix);
    if (!age || figures == nullptr) continue;
    due_at =
        std::min(due_at, parts_.loop.now() + std::max(Duration{0}, period_of(*figures) - *age));
  }
  read_at_ = std::max(due_at, parts_.loop.now() + look_interval) +
             (asks_ ? Duration{0} : after_asker + spread_) + figures_period * (commands_ - 1);
  next_.set(std::min(read_at_, parts_.loop.now() + look_interval), [this] { look(); });
}

// ---- what is to be asked

/// Those that have had a run here, and those that are watched.
std::vector<RulePtr> Figures::living() const {
  const bool watched = watches().any;
  std::vector<RulePtr> lists;
  for (const auto& [prefix, list] : parts_.supervisor.lists())
    // Most have no past, and their rules are not looked at for that.
    if ((list->has_past() || (watched && is_watched(list->rule()))) && list->rule().enabled)
      lists.push_back(list->shared_rule());
  return lists;
}

bool Figures::is_due(const RulePtr& rule, Duration before) const {
  const auto refused = refused_until_.find(rule->prefix);
  if (refused != refused_until_.end() && parts_.loop.now() < refused->second) return false;
  const ListFigures* figures = parts_.known.find(rule->prefix);
  const auto age = parts_.known.age(rule->prefix);
  return figures == nullptr || !age || *age + before >= period_of(*figures);
}

std::vector<RulePtr> Figures::due(Duration before) const {
  std::vector<RulePtr> lists = living();
  std::erase_if(lists, [&](const RulePtr& rule) { return !is_due(rule, before); });
  return lists;
}

bool Figures::counts_due() const {
  if (!parts_.accepted) return false;
  const auto& counts = parts_.known.fleet();
  return !counts || redis_now() - counts->at >= figures_period;
}

void Figures::ask() {
  prolonged_ = parts_.loop.now();
  if (parts_.accepted) count_fleet();
  std::vector<RulePtr> lists = due(taken_along);
  measuring_.begin(
      std::move(lists), [this] { return redis_now(); }, [this] { asked(); });
}

/// Also the places of all hosts, now and then, where they are wanted.
void Figures::count_fleet() {
  parts_.reader.read(
      [this, alive = std::weak_ptr<bool>(alive_)](const store::FleetReader::ViewPtr& view) {
        if (alive.expired() || !view->trouble.empty()) return;
        const FleetCounts counts = count(*view);
        parts_.known.note(counts);
        shared_.write({{store::FleetFigures::fleet_field, to_text(counts)}});
        // A host that has come tells of its lists a moment after its first beat.
        if (std::exchange(places_hosts_, counts.hosts) != counts.hosts) places_again_ = 3;
        const auto places = std::make_shared<PlacesCount>();
        places->lists = watched_lists();
        if (places->lists.empty()) return;
        if (places_again_ == 0 && parts_.loop.now() - places_at_ < places_interval) return;
        if (places_again_ > 0) --places_again_;
        places_at_ = parts_.loop.now();
        for (const FleetHost& host : view->hosts)
          if (host.trouble.empty() && !host.silent) places->hosts.push_back(host.beat.id);
        count_places(places);
      });
}

std::set<std::string> Figures::watched_lists() const {
  std::set<std::string> lists;
  for (const RulePtr& rule : living())
    if (overdue_after(*rule) > Duration{0}) lists.insert(rule->prefix);
  return lists;
}

/// On the query thread, which does what others have asked in between.
void Figures::count_places(std::shared_ptr<PlacesCount> count) {
  parts_.queries.run(
      [count](verbs::QueryContext& query) {
        count_some_places(query, *count);
        return http::HttpResponse{};
      },
      [this, alive = std::weak_ptr<bool>(alive_), count](const http::HttpResponse& response) {
        if (alive.expired() || response.status != 200) return;
        if (count->counted < count->hosts.size()) return count_places(count);
        places_ = std::move(count->places);
      },
      true);
}

void Figures::count_some_places(verbs::QueryContext& query, PlacesCount& count) {
  for (std::size_t read = 0; read < places_at_once && count.counted < count.hosts.size();) {
    FleetHost host;
    host.beat.id = count.hosts[count.counted++];
    std::map<std::string, unsigned> places;  // a report may be read twice
    read +=
        verbs::each_report(query, host, [&](const std::string& prefix, const std::string& text) {
          if (!count.lists.contains(prefix)) return true;
          const auto list = view::read_report(prefix, text);
          if (list && serves(list->state)) places[prefix] = list->concurrency;
          return true;
        });
    for (const auto& [prefix, number] : places) count.places[prefix] += number;
  }
}

void Figures::told(const RulePtr& rule, const std::optional<ListFigures>& figures) {
  if (!figures) {
    refused_until_[rule->prefix] = parts_.loop.now() + long_list_period;
    return;
  }
  refused_until_.erase(rule->prefix);
  ListFigures all = *figures;
  const ListFigures* const before = parts_.known.find(rule->prefix);
  if (rule->kind() == SourceKind::schedule && all.estimated && before != nullptr)
    keep_counts(all, *before);
  all.cycles = cycles_with(parts_.known.cycles(rule->prefix), all.at, all.lap);
  add_places(*rule, all);
  parts_.known.note(rule->prefix, all, Duration{0});
  if (!parts_.accepted) return;
  unwritten_.emplace_back(store::FleetFigures::list_field + rule->prefix, to_text(all));
  if (unwritten_.size() >= most_unwritten) write();
  if (parts_.loop.now() - prolonged_ < prolong_after) return;
  prolonged_ = parts_.loop.now();
  shared_.prolong_right();
}

void Figures::write() {
  shared_.write(std::exchange(unwritten_, {}));
}

/// What this host reads otherwise. Its own comes back too, and is known.
void Figures::heard(const std::string& name, const std::string& text) {
  if (!parts_.accepted || !parts_.member.time().known()) return;
  take_field(name, text, redis_now());
  if (!reading_ && !measuring_.busy() && in_vain_ == 0) rest();
}

void Figures::add_places(const Rule& rule, ListFigures& figures) {
  const Duration within = overdue_after(rule);
  if (within == Duration{0}) return;
  if (const auto found = places_.find(rule.prefix); found != places_.end()) {
    figures.places = found->second;
    if (rule.fleet_concurrency > 0)
      figures.places = std::min<std::uint64_t>(*figures.places, rule.fleet_concurrency);
  }
  const auto list = parts_.supervisor.lists().find(rule.prefix);
  const auto measures =
      list == parts_.supervisor.lists().end() ? std::nullopt : list->second->measures();
  if (measures) {
    Runs& runs = runs_[rule.prefix];
    const std::uint64_t count = measures->runs.count();
    if (count > runs.count)
      runs.mean = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
          (measures->runs.seconds() - runs.seconds) / static_cast<double>(count - runs.count)));
    runs.seconds = measures->runs.seconds();
    runs.count = count;
    std::uint64_t items = 0;
    for (const auto& [state, number] : figures.items) {
      if (state == "length") items += number;
      if (state == "quarantined") items -= std::min(items, number);
    }
    if (runs.count > 0 && items > 0) figures.slots_needed = places_for(items, runs.mean, within);
  } else if (const ListFigures* before = parts_.known.find(rule.prefix)) {
    figures.slots_needed = before->slots_needed;  // as who runs it has told
  }
}

void Figures::asked() {
  if (parts_.accepted) {
    write();
    shared_.give_right_back();
  }
  look_for_late();
  rest();
}

// ---- who waits too long

/// Whether the config has a list with overdue_after, or any that is watched.
const Figures::Watches& Figures::watches() const {
  const Supervisor& supervisor = parts_.supervisor;
  if (std::exchange(generation_, supervisor.generation()) == supervisor.generation())
    return watches_;
  watches_ = {};
  for (const auto& [prefix, list] : supervisor.lists()) {
    watches_.visits = watches_.visits || overdue_after(list->rule()) > Duration{0};
    watches_.any = watches_.any || is_watched(list->rule());
  }
  return watches_;
}

void Figures::look_for_late() {
  // Of ten thousand lists, most often none.
  if (!watches().visits && late_.empty()) return;
  for (const auto& [prefix, list] : parts_.supervisor.lists()) {
    const Duration within = overdue_after(list->rule());
    if (within == Duration{0} && !late_.contains(prefix)) continue;
    ListStatus status;
    status.prefix = prefix;
    status.overdue_after = within;
    parts_.known.add_to(status);
    const std::string why = why_slow(status);
    if (why.empty() ? late_.erase(prefix) > 0 : late_.insert(prefix).second)
      parts_.events.on_event(VisitsLate{prefix, why.empty(), why});
  }
  std::erase_if(late_, [this](const std::string& prefix) {
    return !parts_.supervisor.lists().contains(prefix);
  });
}

}  // namespace w8y::app
