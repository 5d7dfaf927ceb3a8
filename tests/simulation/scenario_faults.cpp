// Scenario: faults of a world.
#include <algorithm>

#include "simulation/scenario.hpp"
#include "store/schedule/keys.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;
using Kind = Fault::Kind;

}  // namespace

void Scenario::begin(const Fault& fault) {
  world_.log("fault", "", to_text(fault));
  if (fault.kind <= Kind::twice_answered) return start_network(fault);
  if (fault.kind <= Kind::slow_server) return start_server(fault);
  if (fault.kind <= Kind::date) return start_host(fault);
  if (fault.kind <= Kind::release) return start_order(fault);
  if (fault.kind <= Kind::last_of_lists) return start_change(fault);
  if (fault.kind <= Kind::last_of_schedules) return start_schedule(fault);
  if (fault.kind <= Kind::last_of_feeds) return start_job(fault);
  if (fault.kind <= Kind::last_of_cuts) return start_cut(fault);
  if (fault.kind <= Kind::last_of_told) return start_told(fault);
  if (fault.kind == Kind::upstream_outage) return start_outage(fault);
  if (fault.kind == Kind::rerun) return start_rerun(fault);
  if (fault.kind == Kind::removal) return start_removal(fault);
  if (fault.kind == Kind::rerun_of_job) return put_again(fault);
  if (fault.kind > Kind::last_of_commands) return start_fleet(fault);
  if (fault.kind > Kind::last_of_redisless) return start_command(fault);
  if (fault.kind > Kind::last_of_operators) return start_redisless(fault);
  if (fault.kind > Kind::last_of_lapses) return start_operator(fault);
  if (fault.kind > Kind::last_of_gearman) return start_lapse(fault);
  if (gearman_) gearman_->begin(fault);
}

/// Makes all runs of a list fail, or of a list of another kind.
void Scenario::start_outage(const Fault& fault) {
  const std::size_t other = fault.number % (settings_.others.size() + 1);
  const std::string& list =
      other < settings_.others.size() ? settings_.others[other].name : fault.list;
  children_.outages[list] = world_.now() + fault.time;
}

/// An operator makes an item run again: a running one, if the search finds one soon.
void Scenario::start_rerun(const Fault& fault) {
  Server& at = server(fault.server);
  const std::string& list = fault.list;
  const auto locks_of = [&](const std::string& item) {
    return Words{list + ":lock:" + item, list + ":proc:" + item};
  };
  const auto runs = [&](const std::string& item) {
    const Words locks = locks_of(item);
    return std::any_of(locks.begin(), locks.end(), [&](const std::string& lock) {
      const auto* value = at.keys().find<std::string>(lock);
      return value != nullptr && value->starts_with("run:");
    });
  };
  std::string item = item_of(at, list, fault.number);
  for (std::uint64_t i = 1; i < 20 && !runs(item); ++i) item = item_of(at, list, fault.number + i);
  Words key{list + ":list", list + ":quarantined", list + ":reruns"};
  for (std::string& lock : locks_of(item)) key.push_back(std::move(lock));
  promises_.operator_frees(list);
  at.run("operator", store::scripts::rerun, key, {list + ":wake", item});
}

void Scenario::start_network(const Fault& fault) {
  promises_.error(fault.host, fault.time);
  Line& line = network_.line(fault.host, fault.server);
  switch (fault.kind) {
    case Kind::slow_line:
      line.least = Duration(1ms);
      line.most = Duration(static_cast<std::int64_t>(2000 + fault.number % 400'000));
      line.bytes_per_ms = static_cast<std::int64_t>(5000 + fault.number % 50'000);
      world_.after(fault.time, [&line] {
        line.least = Line().least;
        line.most = Line().most;
        line.bytes_per_ms = Line().bytes_per_ms;
      });
      break;
    case Kind::held_line:
      line.held = true;
      world_.after(fault.time, [&line] { line.held = false; });
      break;
    case Kind::refused_line:
      line.refused = true;
      network_.lose(fault.host, fault.server, Network::Loss::now);
      world_.after(fault.time, [&line] { line.refused = false; });
      break;
    case Kind::broken_now:
      network_.lose(fault.host, fault.server, Network::Loss::now);
      break;
    case Kind::lost_request:
      network_.lose(fault.host, fault.server, Network::Loss::request);
      break;
    case Kind::lost_reply:
      network_.lose(fault.host, fault.server, Network::Loss::reply);
      break;
    case Kind::twice_answered:
      network_.lose(fault.host, fault.server, Network::Loss::twice);
      break;
    default:
      network_.lose(fault.host, fault.server, Network::Loss::part);
  }
}

void Scenario::start_cut(const Fault& fault) {
  promises_.error(fault.host, fault.time);
  if (fault.kind == Kind::cut_request)
    network_.lose(fault.host, fault.server, Network::Loss::cut);
  else if (fault.kind == Kind::late_loss)
    network_.lose(fault.host, fault.server, Network::Loss::reply, 1 + fault.number % 20);
}

void Scenario::start_server(const Fault& fault) {
  Server& at = server(fault.server);
  promises_.error(fault.server, fault.time);
  switch (fault.kind) {
    case Kind::restart:
      at.restart(fault.time, false);
      break;
    case Kind::forbidden: {
      refused_[fault.server] = world_.now() + fault.time;
      static const std::vector<std::string> commands{"SET", "PUBLISH", "SUBSCRIBE", "PING"};
      at.forbid(commands[fault.number % commands.size()]);
      world_.after(fault.time, [&at] { at.forbid({}); });
      break;
    }
    case Kind::move:
      move_all(fault);
      break;
    case Kind::restart_that_loses:
      at.save();
      world_.after(Duration(static_cast<std::int64_t>(fault.number % 1'000'000)),
                   [this, &at, &fault] {
                     promises_.error(fault.server, fault.time);
                     at.restart(fault.time, true);
                     // The RESUME of an operator may be among the lost writes.
                     if (at.keys().exists(store::ScheduleKeys(schedule_name).control))
                       resume_schedule(fault.server, fault.time);
                   });
      break;
    case Kind::hang:
      at.hang(true);
      world_.after(fault.time, [&at] { at.hang(false); });
      break;
    case Kind::read_only:
      at.refuse_writes("READONLY You can't write against a read only replica.");
      world_.after(fault.time, [&at] { at.refuse_writes({}); });
      break;
    case Kind::full:
      at.refuse_writes("OOM command not allowed when used memory > 'maxmemory'.");
      world_.after(fault.time, [&at] { at.refuse_writes({}); });
      break;
    default:
      at.slow_down(20 + static_cast<unsigned>(fault.number % 200));
      world_.after(fault.time, [&at] { at.slow_down(1); });
  }
}

void Scenario::stall(Host& whose, Duration time) {
  if (world_.age() + time > options_.scale.time - Scale::calm) return;
  promises_.error(whose.name(), time);
  promises_.away(whose.name(), world_.now() + time);
  whose.stall(time);
}

void Scenario::start_host(const Fault& fault) {
  Host& whose = host(fault.host);
  promises_.error(fault.host, fault.time);
  switch (fault.kind) {
    case Kind::stall:
      if (fault.number % 2 == 0) {
        stall(whose, fault.time);
      } else {
        // The stall starts after the next claim of several items, when some may still wait on the
        // host.
        promises_.at_next_claims(fault.host, [this, &whose, &fault] {
          world_.after(Duration(2ms), [this, &whose, &fault] { stall(whose, fault.time); });
        });
      }
      break;
    case Kind::death:
      promises_.away(fault.host, world_.now() + fault.time);
      whose.die();
      world_.after(fault.time, [&whose] { whose.start(); });
      break;
    default:
      whose.set_date(WallTime(static_cast<std::int64_t>(fault.number % 7'200'000) - 3'600'000));
  }
}

void Scenario::reload(Host& whose, Random random) {
  change_config(whose, random);
  whose.reload();
}

void Scenario::change_config(Host& whose, Random random) {
  Settings& settings = settings_of_[whose.name()];
  change(settings, random);
  promises_.error(whose.name(), Duration{0});
  whose.write_config(settings.config_of(whose.name()));
  moved_[whose.name()].at = world_.now();  // it may try another Redis
}

/// Runs a command of an operator.
void Scenario::start_order(const Fault& fault) {
  Host& whose = host(fault.host);
  Server& at = server(fault.server);
  switch (fault.kind) {
    case Kind::reload:
      // One host, or all hosts.
      for (const auto& each : hosts_)
        if (each.get() == &whose || fault.number % 2 == 0) reload(*each, Random(fault.number));
      break;
    case Kind::quiet:
      directly_commanded_[whose.name()] = world_.now();
      whose.quiet(true);
      world_.after(fault.time, [this, &whose] {
        quiet_.erase(whose.name());
        directly_commanded_[whose.name()] = world_.now();
        whose.quiet(false);
      });
      break;
    case Kind::pause:
      at.command("operator", {"SET", fault.list + ":paused", "for a while", "PX",
                              std::to_string(1 + fault.time.count() / 1000)});
      break;
    case Kind::cancel: {
      const auto* supervisor = whose.supervisor();
      if (supervisor == nullptr || !supervisor->lists().contains(fault.list)) break;
      const auto* poller = supervisor->lists().at(fault.list)->poller();
      if (poller == nullptr) break;
      poller->runs().each([&](const ActiveRun& run) { whose.cancel(run.claim.run); });
      break;
    }
    case Kind::run_item:
      whose.run_item(fault.list, item_of(at, fault.list, fault.number));
      break;
    default:
      order(at, fault.list,
            fault.kind == Kind::quarantine ? store::scripts::quarantine : store::scripts::release,
            fault);
  }
}

void Scenario::order(Server& at, const std::string& list, const redis::Script& script,
                     const Fault& fault) {
  const std::string item = item_of(at, list, fault.number);
  const std::string own = list + ":lock:" + item;
  promises_.operator_frees(list);
  if (&script == &store::scripts::quarantine) {
    at.run("operator", script, {list + ":list", list + ":quarantined", own},
           {"", R"({"by":"an operator"})", item});
    // The item is released soon, so that all items can run in the calm.
    world_.after(Duration(4s),
                 [this, &at, list, &fault] { order(at, list, store::scripts::release, fault); });
    return;
  }
  at.run("operator", script,
         {list + ":list", list + ":failures", list + ":quarantined", own, list + ":proc:" + item},
         {"", list + ":wake", item});
}

/// Adds a long item and removes it later. Most have about 100 KiB, and few have the maximum length.
void Scenario::large_item(const Fault& fault) {
  Server& at = server(fault.server);
  const std::uint64_t dice = fault.number % 20;
  const std::size_t size = dice == 0  ? std::size_t{16} << 20
                           : dice < 5 ? 200'000 + fault.number % 800'000
                                      : 64'000 + fault.number % 100'000;
  const std::string item(size, static_cast<char>('A' + fault.number % 26));
  user(at, fault.list, {"RPUSH", fault.list + ":list", item});
  world_.after(dice == 0 ? fault.time / 4 : fault.time, [this, &at, list = fault.list, item] {
    user(at, list, {"LREM", list + ":list", "0", item});
  });
}

/// Moves Redis: all hosts reload a config with the new server. The old one is down until the calm.
void Scenario::move_all(const Fault& fault) {
  const std::string to = fault.server == "redis1" ? "redis2" : "redis1";
  const Duration away = options_.scale.time - Scale::calm - world_.age();
  promises_.error(fault.server, away);
  server(fault.server).restart(away, false);
  for (const auto& each : hosts_) {
    Settings& settings = settings_of_[each->name()];
    settings.server = to;
    each->write_config(settings.config_of(each->name()));
    promises_.error(each->name(), Duration{0});
    moved_[each->name()].at = world_.now();
    each->reload();
  }
}

/// Changes lists as users and other programs do.
void Scenario::start_change(const Fault& fault) {
  Server& at = server(fault.server);
  const std::string key = fault.list + ":list";
  const std::string number = std::to_string(fault.number % 1000);
  switch (fault.kind) {
    case Kind::add:
      user(at, fault.list, {"RPUSH", key, "new" + number});
      break;
    case Kind::remove:
      user(at, fault.list, {"LREM", key, "0", item_of(at, fault.list, fault.number)});
      break;
    case Kind::twice:
      user(at, fault.list, {"LPUSH", key, item_of(at, fault.list, fault.number)});
      break;
    case Kind::large:
      large_item(fault);
      break;
    case Kind::empty_list: {
      const List* items = at.keys().find<List>(key);
      Words words{"RPUSH", key};
      if (items != nullptr) words.insert(words.end(), items->begin(), items->end());
      user(at, fault.list, {"DEL", key});
      if (words.size() > 2)
        world_.after(fault.time, [this, &at, list = fault.list, words] { user(at, list, words); });
      break;
    }
    case Kind::foreign:
      foreign(fault);
      break;
    default:
      for (int i = 0; i < 1000; ++i)
        world_.after(fault.time * i / 1000, [&at, list = fault.list] {
          at.command("user", {"PUBLISH", list + ":wake", "something"});
        });
  }
}

/// Acts as an old w8y without scripts: it rotates the list and locks the rotated item.
void Scenario::foreign(const Fault& fault) {
  Server& at = server(fault.server);
  at.command("go-w8y", {"LMOVE", fault.list + ":list", fault.list + ":list", "LEFT", "RIGHT"});
  const List* items = at.keys().find<List>(fault.list + ":list");
  if (items == nullptr) return;
  const std::string lock = fault.list + ":lock:" + items->back();
  const Value taken = at.command("go-w8y", {"SET", lock, "go-w8y", "NX", "PX", "5000"});
  if (taken.kind != Value::Kind::status) return;
  world_.log("go-w8y", fault.list + ' ' + brief(items->back()), "has claimed it");
  world_.after(fault.time, [&at, lock] {
    const auto* value = at.keys().find<std::string>(lock);
    if (value != nullptr && *value == "go-w8y") at.command("go-w8y", {"DEL", lock});
  });
}

}  // namespace w8y::sim
