#include "view/why.hpp"

#include <doctest/doctest.h>

using namespace w8y;
using namespace std::chrono_literals;

namespace why_test {

constexpr WallTime now{1769862896000};  // 2026-01-31T12:34:56Z

FleetHost host(const std::string& name, ListState state = ListState::idle) {
  FleetHost host;
  host.heartbeat.host = name;
  host.heartbeat.state = "running";
  ListStatus& list = host.lists.emplace_back();
  list.state = state;
  list.concurrency = 8;
  return host;
}

FleetHost refusing(const std::string& name, const std::string& why) {
  FleetHost told = host(name, ListState::ineligible);
  told.lists.front().why = why;
  return told;
}

WhyList list(std::vector<FleetHost> hosts, SourceKind kind = SourceKind::circular) {
  WhyList list;
  list.name = "work";
  list.kind = &traits_of(kind);
  list.now = now;
  list.fleet = "w8y-fleet";
  list.hosts = std::move(hosts);
  return list;
}

WhyItem item(std::string_view state) {
  WhyItem item(view::item_named("m1"));
  item.state = state;
  return item;
}

view::RunRecord failed_run() {
  view::RunRecord run;
  run.run = "01KFRUN";
  run.host = "alpha";
  run.outcome = "failed";
  run.reason = "exit status 1: connection refused";
  run.ended = now - 30s;
  return run;
}

WhyItems items(std::map<std::string, std::size_t> states) {
  WhyItems items;
  for (const auto& [state, count] : states) items.length += count;
  items.examined = items.length;
  items.states = std::move(states);
  return items;
}

std::string kinds(const Why& why) {
  std::string text;
  for (const auto& each : why.sentences) text += (text.empty() ? "" : " ") + each.kind;
  return text;
}

std::string first(const Why& why) {
  return why.sentences.empty() ? "" : why.sentences.front().text;
}

std::string text_of(const Why& why, const char* kind) {
  for (const auto& each : why.sentences)
    if (each.kind == kind) return each.text;
  return "";
}

TEST_CASE("why: an item that does not exist is unknown") {
  const Why gone = why_item(list({host("alpha")}), item(""));
  CHECK(gone.unknown());
  CHECK(first(gone) == "The list work has no item m1.");
  WhyList nowhere = list({});
  nowhere.has_keys = false;
  CHECK(first(why_item(nowhere, item(""))) == "There is no list work: Redis has none of its keys.");
  CHECK(first(why_item(list({}, SourceKind::job), item(""))) ==
        "The feed work has no job m1: it is finished, was retracted, or never existed.");
  CHECK(why_list(nowhere, {}).unknown());
}

TEST_CASE("why: a running item has its host, duration and progress") {
  WhyItem run = item("running");
  run.host = "beta";
  run.run = "01KF";
  run.since = now - 3min;
  run.progress = Progress{4, 10};
  const Why why = why_item(list({host("beta")}), run);
  CHECK(why.state == "running");
  CHECK(first(why) ==
        "The item m1 of work runs on beta since 2026-01-31T12:31:56Z, for 3m, 40 % done (run "
        "01KF).");
  CHECK(why.sentences[0].hosts == std::vector<std::string>{"beta"});
  CHECK(why.sentences[0].texts.at("run") == "01KF");

  run.stopping = run.quarantined_at_end = true;
  run.listed = false;
  CHECK(kinds(why_item(list({}), run)) == "running stopping quarantined_at_end not_listed");
}

TEST_CASE("why: a run on a host without a reply has the age of its heartbeat") {
  FleetCommandResult replies;
  replies.no_reply.push_back({"beta", "beta-1", false, now - 14s});
  WhyList asked = list({host("beta"), host("gamma")});
  asked.hosts.front().heartbeat.id = "beta-1";
  asked.hosts.front().last_heartbeat = now - 14s;
  add_replies(asked.hosts, replies);

  WhyItem run = item("running");
  run.host = "beta";
  run.run = "01KF";
  const Why why = why_item(asked, run);
  CHECK(kinds(why) == "running no_reply");
  CHECK(why.sentences[1].text ==
        "The host beta did not reply within 2s; its last heartbeat was 14s ago.");
  CHECK(why.sentences[1].hosts == std::vector<std::string>{"beta"});
  run.host = "gamma";
  CHECK(kinds(why_item(asked, run)) == "running");
}

TEST_CASE("why: the last report of a host without a reply is used until a heartbeat is overdue") {
  FleetHost slow = host("beta");
  slow.no_reply = true;
  CHECK(kinds(why_item(list({slow}), item("free"))) == "no_reply");
  CHECK(kinds(why_item(list({slow, host("gamma")}), item("free"))) == "ready no_reply");
  FleetHost lacks = refusing("beta", "lacks \"gpu\"");
  lacks.no_reply = true;
  CHECK(kinds(why_item(list({lacks}), item("free"))) == "no_reply ineligible");
  CHECK(kinds(why_list(list({slow}), items({{"free", 1}}))) == "no_reply items");
  slow.late = true;
  CHECK(kinds(why_item(list({slow}), item("free"))) == "no_reply");
}

TEST_CASE("why: a lock of another program is shown as it is") {
  WhyItem held = item("running");
  held.lock = "web7 4711";
  held.left = 4s;
  CHECK(first(why_item(list({host("alpha")}), held)) ==
        "The item m1 of work is locked by another program: \"web7 4711\"; the lock expires in "
        "4s unless it is renewed.");
  held.left.reset();
  held.lock.clear();
  CHECK(first(why_item(list({host("alpha")}), held)) ==
        "The item m1 of work is locked by another program, with an empty value; the lock does not "
        "expire.");
}

TEST_CASE("why: a delayed item has its failures or its cooldown as the reason") {
  WhyItem rests = item("delayed");
  rests.why = "backoff";
  rests.left = 2min;
  rests.failures = 3;
  rests.last_failure = failed_run();
  const Why why = why_item(list({host("alpha")}), rests);
  CHECK(first(why) ==
        "The item m1 of work is delayed for 2m more after 3 failures in a row, the last: \"exit "
        "status "
        "1: connection refused\".");
  CHECK(kinds(why) == "delayed remedy");
  CHECK(text_of(why, "remedy") == "To end its delay: w8yctl release work m1");
  CHECK(why.sentences[0].numbers.at("remaining_ms") == 120'000);

  rests = item("delayed");
  rests.why = "cooldown";
  rests.left = 9s;
  CHECK(first(why_item(list({host("alpha")}), rests)) ==
        "The item m1 of work is delayed for 9s more by its cooldown, after a run that succeeded.");

  // Further reasons follow.
  WhyList paused = list({host("alpha")});
  paused.pause = Pause{};
  CHECK(kinds(why_item(paused, rests)) == "cooldown remedy also paused");
}

TEST_CASE("why: a quarantined item has its operator, run and reason") {
  WhyItem quarantined = item("quarantined");
  quarantined.run = "01KFRUN";
  quarantined.by = "w8yd on alpha";
  quarantined.why = "3 runs consecutive failures";
  quarantined.since = now - 1h;
  quarantined.last_failure = failed_run();
  const Why why = why_item(list({host("alpha")}), quarantined);
  CHECK(first(why) ==
        "The item m1 of work is quarantined by w8yd on alpha after run 01KFRUN since "
        "2026-01-31T11:34:56Z, for 1h: 3 runs consecutive failures.");
  CHECK(text_of(why, "last_failure") ==
        "Its last run failed on alpha 30s ago: exit status 1: connection refused.");
  CHECK(text_of(why, "remedy") == "To run it again: w8yctl release work m1");
  CHECK(first(why_item(list({}), item("quarantined"))) ==
        "The item m1 of work is quarantined, and no reason was given.");
}

TEST_CASE("why: a paused list is a reason") {
  WhyList paused = list({host("alpha")});
  paused.pause = Pause{"deploy", "root on alpha", now - 12min, now + 48min};
  const Why why = why_item(paused, item("free"));
  CHECK(first(why) ==
        "The list work is paused by root on alpha for 12m: \"deploy\"; the pause ends at "
        "2026-01-31T13:22:56Z, in 48m.");
  CHECK(why.sentences[0].texts.at("reason") == "deploy");
  CHECK(why.sentences[0].numbers.at("until_ms") == (now + 48min).count());
  paused.pause = Pause{};
  CHECK(first(why_item(paused, item("free"))) ==
        "The list work is paused, and no reason was given; to resume it: w8yctl resume work");
}

TEST_CASE("why: an open breaker is a reason with the next probe and the command that closes it") {
  WhyList open = list({host("alpha")});
  open.now = 10h;
  open.breaker = OpenBreaker{10h - 4min, 10h + 8s, "19 of 20 runs failed: HTTP 503"};
  const Why why = why_item(open, item("free"));
  CHECK(text_of(why, "breaker_open")
            .starts_with("The breaker of work has been open for 4m: 19 of 20 runs failed: HTTP "
                         "503; the next probe is "));
  CHECK(text_of(why, "breaker_open").ends_with("; to close it now: w8yctl resume work"));
  open.breaker->probe = 10h - 1s;
  CHECK(text_of(why_item(open, item("free")), "breaker_open") ==
        "The breaker of work has been open for 4m: 19 of 20 runs failed: HTTP 503; one run at a "
        "time tests whether runs succeed again; to close it now: w8yctl resume work");
}

TEST_CASE("why: ineligible hosts are grouped by reason") {
  const WhyList one = list({refusing("alpha", "lacks \"gpu\""), refusing("beta", "lacks \"gpu\""),
                            refusing("gamma", "lacks \"gpu\"")});
  CHECK(first(why_item(one, item("free"))) ==
        "Three hosts are ineligible for it, alpha, beta and gamma: lacks \"gpu\".");
  CHECK(kinds(why_item(one, item("free"))) == "ineligible");

  const WhyList two =
      list({refusing("alpha", "no such program"), refusing("beta", "lacks \"gpu\""),
            refusing("gamma", "lacks \"gpu\""), host("delta", ListState::disabled)});
  const Why why = why_item(two, item("free"));
  CHECK(kinds(why) == "not_served ineligible ineligible disabled");
  CHECK(first(why) == "No host serves it now.");
  CHECK(why.sentences[1].text == "Two hosts are ineligible for it, beta and gamma: lacks \"gpu\".");
  CHECK(why.sentences[2].text == "One host is ineligible for it, alpha: no such program.");
  CHECK(why.sentences[3].text == "The host delta has it disabled in the config: enabled = false.");
}

TEST_CASE("why: each state of a host that does not serve the list is a reason") {
  const auto only = [](const FleetHost& it) { return first(why_item(list({it}), item("free"))); };
  FleetHost it = host("alpha");
  it.heartbeat.state = "quiet";
  CHECK(only(it) ==
        "The host alpha is quiet and starts no new runs; to end that: w8yctl resume --host alpha");
  it.heartbeat.state = "draining";
  CHECK(only(it) == "The host alpha is draining.");
  it.unresponsive = true;
  it.last_heartbeat = now - 40s;
  CHECK(only(it) ==
        "The host alpha is unresponsive since 2026-01-31T12:34:16Z, for 40s: it was killed, or "
        "cannot reach Redis.");
  it.unresponsive = false;
  it.no_reply = it.late = true;
  it.last_heartbeat = now - 14s;
  CHECK(only(it) == "The host alpha did not reply within 2s; its last heartbeat was 14s ago.");
  CHECK(only(host("alpha", ListState::probing)) == "The host alpha is still probing the executor.");
  it = host("alpha", ListState::starved);
  it.lists.front().why = "no more processes";
  CHECK(only(it) == "The host alpha cannot start processes now: no more processes.");
  it = host("alpha", ListState::unavailable);
  it.lists.front().why = "NOPERM";
  CHECK(only(it) == "The host alpha cannot reach Redis: NOPERM.");
  it = host("alpha");
  it.error = "it is no JSON";
  CHECK(only(it) == "The heartbeat of alpha cannot be read: it is no JSON.");
}

TEST_CASE(
    "why: a list that no host has in its config is a reason, and a fleet without hosts is one") {
  FleetHost without = host("alpha");
  without.lists.clear();
  CHECK(first(why_item(list({without}), item("free"))) ==
        "No host has work in its config: the fleet w8y-fleet has alpha.");
  CHECK(first(why_item(list({}), item("free"))) ==
        "No host can run it: the fleet w8y-fleet has no host.");
  WhyList unseen = list({});
  unseen.fleet_error = "NOPERM no right to the key w8y-fleet:hosts";
  CHECK(first(why_item(unseen, item("free"))) ==
        "The state of the hosts is not known, because the fleet cannot be read: NOPERM no right to "
        "the key w8y-fleet:hosts.");
}

TEST_CASE("why: hosts at a limit are a reason") {
  FleetHost full = host("alpha", ListState::running);
  full.lists.front().running = 8;
  CHECK(first(why_item(list({full}), item("free"))) ==
        "The host alpha, the only one that serves it, is at its limit for the list: 8 of 8 runs "
        "(concurrency).");
  FleetHost crowded = host("beta");
  crowded.heartbeat.slots_used = crowded.heartbeat.slots_limit = 16;
  const Why why = why_item(list({full, crowded}), item("free"));
  CHECK(kinds(why) == "limit host_limit");
  CHECK(why.sentences[1].text ==
        "The host beta has no free slot: 16 of 16 slots are in use (host_concurrency). Free slots "
        "are shared by weight; work has weight 1.");
  // Another host has a free slot, so nothing blocks the item.
  CHECK(kinds(why_item(list({full, host("gamma")}), item("free"))) == "ready");

  FleetHost long_items = host("alpha", ListState::full);
  long_items.lists.front().why =
      "the memory for long items is in use; the next claim waits until runs end";
  CHECK(first(why_item(list({long_items}), item("free"))) ==
        "The host alpha, the only one that serves it, starts no more runs now: the memory for "
        "long items is in use; the next claim waits until runs end.");

  FleetHost limited = host("alpha", ListState::running);
  limited.lists.front().fleet_concurrency = 4;
  WhyList fleet = list({limited});
  fleet.fleet_runs = 4;
  CHECK(first(why_item(fleet, item("free"))) ==
        "The fleet is at its limit for the list: 4 of 4 runs on all hosts together "
        "(fleet_concurrency).");
  fleet.fleet_runs = 3;
  CHECK(kinds(why_item(fleet, item("free"))) == "ready");
}

TEST_CASE("why: an item that nothing blocks is claimed soon") {
  FleetHost ready = host("alpha");
  ready.lists.front().poll_within = 10s;
  const Why why = why_item(list({ready, refusing("beta", "x")}), item("free"));
  CHECK(first(why) == "Nothing blocks the item m1 of work: it is claimed soon.");
  CHECK(kinds(why) == "ready next_poll");
  CHECK(why.sentences[1].text ==
        "The host alpha polls for free items within 10s, and at once after a wake-up.");
}

TEST_CASE("why: a free item has its position, and a time if runs start") {
  FleetHost full = host("alpha", ListState::running);
  full.lists.front().running = 8;
  WhyList work = list({full});
  WhyItem free = item("free");
  free.ahead = 37;
  free.runs_per_second = 9.5;
  const Why busy = why_item(work, free);
  CHECK(kinds(busy) == "position limit");
  CHECK(first(busy) ==
        "The item m1 of work is waiting: 37 items are ahead of it; estimated wait 4s.");
  CHECK(busy.sentences[0].numbers.at("ahead") == 37);
  CHECK(busy.sentences[0].numbers.at("wait_ms") == 4000);

  free.ahead = 1;
  free.runs_per_second = 0;  // no run has ended yet
  CHECK(first(why_item(work, free)) == "The item m1 of work is waiting: 1 item is ahead of it.");
  CHECK(why_item(work, free).sentences[0].numbers.count("wait_ms") == 0);
  free.ahead = 0;
  free.runs_per_second = 0.5;
  CHECK(first(why_item(work, free)) ==
        "The item m1 of work is the next to be claimed; estimated wait 2s.");
  free.ahead = 1'000'000;
  free.ahead_estimated = true;
  CHECK(
      first(why_item(work, free)) ==
      "The item m1 of work is waiting: about 1000000 items are ahead of it; estimated wait 23d3h.");

  // Nothing starts in a paused list.
  work.pause = Pause{};
  free = item("free");
  free.ahead = 37;
  free.runs_per_second = 9.5;
  const Why paused = why_item(work, free);
  CHECK(kinds(paused) == "paused limit position");
  CHECK(text_of(paused, "position") == "The item m1 of work is waiting: 37 items are ahead of it.");

  free.ahead = 0;
  CHECK(kinds(why_item(work, free)) == "paused limit");
  free.ahead = 37;
  const Why ready = why_item(list({host("alpha")}), free);
  CHECK(first(ready) ==
        "Nothing blocks the item m1 of work: 37 items are ahead of it; estimated wait 4s.");
  CHECK(ready.sentences[0].numbers.at("ahead") == 37);
}

TEST_CASE("why: a queued job has the time to its claim") {
  FleetHost full = host("alpha", ListState::running);
  full.lists.front().running = 8;
  WhyItem job = item("queued");
  job.queue_position = 3;
  job.ahead = 2;
  job.runs_per_second = 1;
  const Why why = why_item(list({full}, SourceKind::job), job);
  CHECK(kinds(why) == "queued limit");
  CHECK(first(why) == "The job m1 of work is at position 3, behind 2 others; estimated wait 3s.");
}

TEST_CASE("why: an item has its last change by an operator") {
  WhyItem one = item("free");
  one.last_change = view::ItemChange{"released", "alice on web1", "it \033[1m works", now - 5min};
  const Why why = why_item(list({host("alpha")}), one);
  CHECK(why.sentences.back().kind == "changed");
  CHECK(why.sentences.back().text == "Released by alice on web1 5m ago: it \\e[1m works.");
  CHECK(why.sentences.back().texts.at("by") == "alice on web1");
  // The reason of a quarantine names its operator.
  one.state = "quarantined";
  one.last_change->change = "quarantined";
  CHECK(why_item(list({host("alpha")}), one).sentences.back().kind != "changed");
}

TEST_CASE("why: a stalled job has the failures after which it was stalled") {
  WhyItem job = item("stalled");
  job.failures = 3;
  job.last_failure = failed_run();
  view::RunRecord earlier = failed_run();
  earlier.host = "beta";
  earlier.outcome = "timed_out";
  earlier.reason = "timeout of 5s";
  earlier.ended = now - 2min;
  job.earlier_failures = {earlier, failed_run()};
  const Why why = why_item(list({host("alpha")}, SourceKind::job), job);
  CHECK(kinds(why) == "stalled last_failure earlier_failure earlier_failure remedy");
  CHECK(first(why) ==
        "The job m1 of work is stalled after 3 failures: it does not run until it is retried.");
  CHECK(why.sentences[1].text ==
        "Its last run failed on alpha 30s ago: exit status 1: connection refused.");
  CHECK(why.sentences[2].text == "Before that, a run timed out on beta 2m ago: timeout of 5s.");
  CHECK(why.sentences[2].texts.at("outcome") == "timed_out");

  // The settlement that stalls a job deletes its count of failures.
  job.failures = 0;
  CHECK(first(why_item(list({}, SourceKind::job), job)) ==
        "The job m1 of work is stalled: it does not run until it is retried.");
  job.last_failure->stalled = "5 consecutive failures";
  job.last_failure->attempt = 5;
  CHECK(first(why_item(list({}, SourceKind::job), job)) ==
        "The job m1 of work is stalled after 5 failures: it does not run until it is retried.");
}

TEST_CASE("why: an unknown list has the nearest name") {
  WhyList nowhere = list({});
  nowhere.has_keys = false;
  nowhere.near = "; did you mean words?";
  CHECK(first(why_item(nowhere, item(""))) ==
        "There is no list work: Redis has none of its keys; did you mean words?");
  CHECK(first(why_list(nowhere, {})) ==
        "There is no list work: Redis has none of its keys, and no host has it in its config; did "
        "you mean words?");
}

TEST_CASE("why: a job of a schedule has its state and reason") {
  const WhyList bike = list({host("alpha")}, SourceKind::schedule);
  WhyItem job = item("scheduled");
  job.queue = "audio";
  job.due = now + 2h;
  job.words = "every day at 14:34";
  CHECK(first(why_item(bike, job)) ==
        "The job m1 of work is due at 2026-01-31T14:34:56Z, in 2h (every day at 14:34).");
  WhyList halted = bike;
  halted.halted = "root on alpha";
  CHECK(kinds(why_item(halted, job)) == "due also halted");
  job.due = now - 2min;
  CHECK(kinds(why_item(bike, job)) == "late");
  CHECK(first(why_item(bike, job)) ==
        "The job m1 of work is due since 2026-01-31T12:32:56Z, for 2m (every day at 14:34), and no "
        "host has put it in its queue yet.");
  const Why held = why_item(halted, job);
  CHECK(kinds(held) == "halted late");
  CHECK(first(held) ==
        "The schedule work is halted by root on alpha; to resume it: w8yctl schedule -k work "
        "control RESUME");

  job = item("queued");
  job.queue = "audio";
  job.queue_position = 4;
  CHECK(first(why_item(bike, job)) ==
        "The job m1 of work is queued behind 3 others in the queue audio.");
  FleetHost video = host("alpha");
  video.lists.front().queues = {"video", "text"};
  const Why unserved = why_item(list({video}, SourceKind::schedule), job);
  CHECK(kinds(unserved) == "queue_unserved queues queued");
  CHECK(first(unserved) ==
        "No host serves the queue audio: no host of the fleet has it in `queues`.");
  CHECK(unserved.sentences[1].text == "Queues that are served: alpha: video, text");

  job = item("died");
  job.since = now - 1h;
  job.last_failure = failed_run();
  CHECK(kinds(why_item(bike, job)) == "died last_failure remedy");
  CHECK(text_of(why_item(bike, job), "remedy") ==
        "To run it again: w8yctl schedule -k work set m1 SCHEDULE");
  job = item("bad");
  job.why = "no rule";
  CHECK(first(why_item(bike, job)) ==
        "The job m1 of work has a schedule that cannot be read: no rule.");
  CHECK(kinds(why_item(bike, item("stopped"))) == "stopped remedy");
  CHECK(
      first(why_item(bike, item("finished"))) ==
      "The job m1 of work has finished: its run succeeded, and its schedule has no further time.");
  job = item("orphaned");
  job.why = "no worker has it; set it again";
  CHECK(first(why_item(bike, job)) ==
        "The job m1 of work is orphaned: no worker has it; set it again.");
  job = item("running");
  job.lock = "worker-7";
  CHECK(first(why_item(bike, job)) ==
        "The job m1 of work is claimed by another program: worker-7; the lock does not "
        "expire.");
}

TEST_CASE("why: a job of a feed has its state and reason") {
  const WhyList feed = list({host("alpha")}, SourceKind::job);
  WhyItem job = item("queued");
  job.queue_position = 3;
  job.failures = 1;
  job.max_failures = 5;
  const Why why = why_item(feed, job);
  CHECK(kinds(why) == "queued cancelled");
  CHECK(first(why) == "The job m1 of work is at position 3, behind 2 others.");
  CHECK(why.sentences[1].text == "It was cancelled 1 time; it is stalled after 5 (max_failures).");
  job = item("running");
  job.host = "alpha";
  job.run = "01KF";
  job.left = 4s;
  CHECK(kinds(why_item(feed, job)) == "running lease");
  job = item("claimed");
  job.since = now - 1min;
  CHECK(first(why_item(feed, job)) ==
        "The job m1 of work is claimed by another program, since 2026-01-31T12:33:56Z, for "
        "1m; it has no lease that could expire.");
  job = item("stalled");
  job.failures = 5;
  job.last_failure = failed_run();
  CHECK(kinds(why_item(feed, job)) == "stalled last_failure remedy");
  CHECK(first(why_item(feed, job)) ==
        "The job m1 of work is stalled after 5 failures: it does not run until it is retried.");
  job = item("delayed");
  job.until = now + 30s;
  job.failures = 2;
  CHECK(first(why_item(feed, job)) ==
        "The job m1 of work is delayed for 30s more after 2 failures.");
  CHECK(kinds(why_item(feed, item("orphaned"))) == "orphaned remedy");
}

TEST_CASE("why: the limits of a list are its reasons") {
  WhyList work = list({host("alpha")});
  CHECK(kinds(why_list(work, {})) == "empty");
  CHECK(first(why_list(work, {})) == "The list work is empty: it has no items.");

  CHECK(first(why_list(work, items({{"running", 8}}))) ==
        "Nothing blocks it: all of its 8 items run.");
  WhyItems at_rest = items({{"delayed", 40}});
  at_rest.first_free = 2min;
  at_rest.last_free = 14min;
  CHECK(first(why_list(work, at_rest)) ==
        "All of its 40 items are delayed. The next one is free in 2m, the last one in 14m.");
  at_rest = items({{"delayed", 3}, {"quarantined", 2}, {"running", 1}});
  at_rest.first_free = 2min;
  const Why none = why_list(work, at_rest);
  CHECK(none.state == "running");
  CHECK(kinds(none) == "none_free delayed items");
  CHECK(none.sentences[2].text == "6 items: 3 delayed, 2 quarantined, 1 running.");

  const Why soon = why_list(work, items({{"free", 1}, {"running", 1}}));
  CHECK(first(soon) == "Nothing blocks it: slots are free, and 1 item is claimed soon.");

  FleetHost full = host("alpha", ListState::running);
  full.lists.front().running = 8;
  const Why limited = why_list(list({full, refusing("beta", "lacks \"gpu\"")}),
                               items({{"free", 5}, {"running", 8}}));
  CHECK(kinds(limited) == "limit items ineligible");
  // One of two hosts has free slots. The limit of the other still slows the list.
  CHECK(kinds(why_list(list({full, host("gamma")}), items({{"free", 5}}))) == "ready items limit");

  work.pause = Pause{"deploy", "", WallTime{0}, WallTime{0}};
  CHECK(kinds(why_list(work, items({{"free", 5}}))) == "paused items");
  CHECK(why_list(work, items({{"free", 5}})).state == "held");
  WhyItems part = items({{"free", 5}});
  part.length = 1'000'000;
  CHECK(text_of(why_list(work, part), "items") == "The first 5 of 1000000 items: 5 free.");
}

TEST_CASE("why: the limits of schedules and feeds are their reasons") {
  FleetHost audio = host("alpha");
  audio.lists.front().queues = {"audio"};
  const WhyList bike = list({audio}, SourceKind::schedule);
  WhyItems jobs = items({{"scheduled", 2}});
  jobs.next_due = now + 1h;
  CHECK(first(why_list(bike, jobs)) ==
        "No job is due; the next one is at 2026-01-31T13:34:56Z, in 1h.");
  jobs.late = 2;
  CHECK(first(why_list(bike, jobs)) ==
        "No job is queued, though 2 jobs are due: no host has put them in a queue yet.");
  jobs = items({{"queued", 3}});
  jobs.queues = {{"audio", 1}, {"video", 2}};
  CHECK(kinds(why_list(bike, jobs)) == "ready queue_unserved items");
  CHECK(first(why_list(bike, jobs)) ==
        "Nothing blocks it: slots are free, and 1 job is claimed soon.");
  jobs.queues = {{"video", 3}};
  CHECK(kinds(why_list(bike, jobs)) == "queue_unserved items");
  const WhyList feed = list({host("alpha")}, SourceKind::job);
  CHECK(first(why_list(feed, items({{"stalled", 3}}))) == "No job is queued.");
  CHECK(first(why_list(feed, items({{"queued", 3}}))) ==
        "Nothing blocks it: slots are free, and 3 jobs are claimed soon.");
}

TEST_CASE("why: an outage of Redis is a reason, and text from outside is escaped") {
  const Why why = why_unavailable("alpha", "Connection refused", now - 1min, now);
  CHECK(first(why) ==
        "Redis is unavailable since 2026-01-31T12:33:56Z, for 1m, as seen by the host alpha: "
        "Connection refused.");
  CHECK(kinds(why_unavailable("alpha", "x", std::nullopt, now)) == "redis_away redis_away");

  WhyList evil = list({refusing("al\npha", "\x1b[31m")});
  evil.name = "wo rk";
  evil.pause = Pause{"a\nb", "c\rd", WallTime{0}, WallTime{0}};
  for (const auto& each : why_item(evil, item("free")).sentences) {
    CHECK(each.text.find('\n') == std::string::npos);
    CHECK(each.text.find('\x1b') == std::string::npos);
  }
}

}  // namespace why_test
