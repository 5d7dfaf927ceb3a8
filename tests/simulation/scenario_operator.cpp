// Scenario: queries and changes by operators with the code of w8yctl and of the status API, over a
// connection of their own. They query items, runs and reasons, and change items and pauses.
#include <algorithm>

#include "operator/changes.hpp"
#include "operator/items.hpp"
#include "operator/lists.hpp"
#include "operator/query_context.hpp"
#include "operator/runs.hpp"
#include "operator/schedules.hpp"
#include "operator/why.hpp"
#include "redis/url.hpp"
#include "simulation/scenario.hpp"
#include "store/circular/item_changes.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;
using verbs::PageRequest;
using verbs::QueryContext;

/// Maximum duration of a program with several calls, each of which waits for command_timeout.
constexpr Duration max_errand = 60s;

/// Returns all items, page by page, as GET /api/v1/lists/…/items does.
std::set<std::string> all_items(QueryContext& query, const std::string& list, std::size_t at_once) {
  std::set<std::string> items;
  PageRequest part{at_once, {}};
  do {
    verbs::ItemsPage page = verbs::list_items(query, list, {}, part);
    for (view::ItemView& item : page.items) items.insert(item.shown().beginning);
    part.after = page.next;
  } while (!part.after.empty());
  return items;
}

/// Reads all pages of a reply.
template <typename Read>
void to_the_end(Read read) {
  PageRequest part{20, {}};
  do part.after = read(part);
  while (!part.after.empty());
}

void query_others_than_items(QueryContext& query, const std::string& list, const std::string& item,
                             std::uint64_t dice) {
  using namespace verbs;
  switch (dice % 5) {
    case 0:
      try {
        static_cast<void>(show_item(query, list, item));
      } catch (const verbs::QueryError&) {  // the item does not exist any more
      }
      break;
    case 1:
      to_the_end([&](const PageRequest& part) {
        return list_runs(query, list, {}, part, [](const view::RunRecord&) { return true; });
      });
      break;
    case 2: {
      WhyQuestion question;
      question.list = list;
      if (dice % 2 == 0) question.item = item;
      static_cast<void>(explain(query, question));
      break;
    }
    case 3:
      to_the_end([&](const PageRequest& part) { return list_schedules(query, part).next; });
      to_the_end([&](const PageRequest& part) { return list_feeds(query, part).next; });
      break;
    default:
      store::ItemChanges changes(query.redis, circular_keys(query, list));
      static_cast<void>(changes.quarantined());
  }
}

void change_items(QueryContext& query, const std::string& list, const std::string& item,
                  std::uint64_t dice) {
  store::ItemChanges changes(query.redis, verbs::circular_keys(query, list));
  const store::QuarantineNote note{{}, "an operator", "to look at it", WallTime{0}};
  const std::vector<std::string> states{"free", "running", "delayed", "quarantined"};
  switch (dice % 10) {
    case 0:
    case 1:
      changes.add({"added" + std::to_string(dice / 10 % 20)}, dice % 2 == 0);
      break;
    case 2:
      changes.remove({item});
      break;
    case 3:
      changes.remove({item}, states[dice / 10 % states.size()]);
      break;
    case 4:
      changes.quarantine({item}, note);
      break;
    case 5:
      changes.release({item});
      break;
    case 6: {
      std::vector<std::string> items;
      for (auto& each : changes.quarantined()) items.push_back(std::move(each.item));
      changes.release(items);
      break;
    }
    case 7:
      changes.change_long(store::ItemChanges::LongChange::release, {"delayed", "quarantined"});
      break;
    case 8:
      verbs::pause_list(query, list, {"for a while", "an operator", WallTime{0}, WallTime{0}},
                        Duration(static_cast<std::int64_t>(1 + dice / 10 % 4000) * 1000));
      break;
    default:
      verbs::resume_list(query, list);
  }
}

}  // namespace

void Scenario::start_operator(const Fault& fault) {
  if (fault.kind == Fault::Kind::operator_line) return break_operator(fault);
  if (operator_->busy()) return;
  if (fault.kind == Fault::Kind::query_items) return query_all_items(fault);
  Server& at = server(fault.server);
  const std::string item = item_of(at, fault.list, fault.number / 100);
  if (fault.kind == Fault::Kind::change_items) {
    return send_operator(fault, [this, list = fault.list, item, server = fault.server,
                                 dice = fault.number](redis::SyncClient& client) {
      with_query(client, server,
                 [&](QueryContext& query) { change_items(query, list, item, dice); });
    });
  }
  send_operator(fault, [this, list = fault.list, item, server = fault.server,
                        dice = fault.number](redis::SyncClient& client) {
    with_query(client, server,
               [&](QueryContext& query) { query_others_than_items(query, list, item, dice); });
  });
}

void Scenario::with_query(redis::SyncClient& client, const std::string& server,
                          const std::function<void(QueryContext& query)>& look) {
  Settings settings = settings_;
  settings.server = server;
  const ConfigPtr config = parse(settings.config_of("operator"));
  redis::ClientOptions reach;
  reach.url = redis::parse_url("rediss://" + server);
  const verbs::KnownLists lists(*config);
  QueryContext query{client, reach, &lists, "w8y-fleet"};
  look(query);
}

/// Checks that a query returns all items that stay in a list while hosts rotate it. If hosts may
/// not run scripts, items change their order, and a query may miss some.
void Scenario::query_all_items(const Fault& fault) {
  Server& at = server(fault.server);
  const auto told = std::make_shared<std::set<std::string>>();
  const std::string key = fault.list + ":list";
  const auto listed = [&at, key] {
    const List* items = at.keys().find<List>(key);
    return items == nullptr ? std::set<std::string>() : std::set(items->begin(), items->end());
  };
  const auto before = listed();
  const auto changes = promises_.changes_of(at, fault.list);
  const auto errand = [this, told, list = fault.list, server = fault.server,
                       dice = fault.number](redis::SyncClient& client) {
    with_query(client, server,
               [&](QueryContext& query) { *told = all_items(query, list, 3 + dice % 500); });
  };
  send_operator(fault, errand, [this, &at, told, before, changes, listed, list = fault.list] {
    if (promises_.changes_of(at, list) != changes) return;
    for (const std::string& item : listed())
      if (before.contains(item) && item.size() <= item_shown && !told->contains(item))
        return promises_.break_promise(
            "a query returns all items",
            brief(item) + " of " + list + " was in the list all the time", {"operator", list});
  });
}

void Scenario::send_operator(const Fault& fault, Operator::Errand errand,
                             std::function<void()> done) {
  const Instant started = world_.now();
  const auto number = ++errands_;
  operator_->run(
      fault.server, std::move(errand),
      [this, started, at = fault.server, done = std::move(done)](const std::string& why) {
        world_.log("operator", "", why.empty() ? "is done" : "gets no reply: " + why);
        if (promises_.in_error("operator", at, started)) return;
        if (!why.empty())
          return promises_.break_promise("an operator gets a reply", why, {"operator"});
        if (done) done();
      });
  expect_end(number);
}

void Scenario::expect_end(std::uint64_t number) {
  world_.after(max_errand, [this, number] {
    if (operator_->busy() && errands_ == number)
      promises_.break_promise("an operator gets a reply", "a command has not ended", {"operator"});
  });
}

/// Breaks the connection of the operator while requests are in flight.
void Scenario::break_operator(const Fault& fault) {
  promises_.error("operator", fault.time);
  if (fault.number % 4 == 0) {
    Line& line = network_.line("operator", fault.server);
    line.held = true;
    world_.after(fault.time, [&line] { line.held = false; });
  }
  static const std::vector<Network::Loss> losses{Network::Loss::now, Network::Loss::request,
                                                 Network::Loss::reply, Network::Loss::part,
                                                 Network::Loss::cut};
  Fault change = fault;
  change.kind = Fault::Kind::change_items;
  start_operator(change);
  world_.after(Duration(static_cast<std::int64_t>(fault.number / 8 % 3000)), [this, &fault] {
    network_.lose("operator", fault.server, losses[fault.number % losses.size()]);
  });
}

}  // namespace w8y::sim
