"""Known-bad edits of the source, one sentence each. scripts/mutate plants them one at a time.

Each edit replaces a text that the file has exactly once.
"""
import pathlib
from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    says: str
    file: str
    old: str
    new: str


LUA = "src/store/lua/"
PARTS = LUA + "parts/"
STORE = "src/store/"
CIRCULAR = "src/source/circular/"
CLAIMING = "src/source/claiming_source.cpp"

MUTANTS = [
    # ---- Lua: settlements
    Mutant("end-keeps-lock", "A settlement keeps its lock.", LUA + "settle.lua",
           "if #free > 0 then redis.call('DEL', unpack(free)) end\n", ""),
    Mutant("rest-takes-lock", "A delay overwrites the lock of another run.", LUA + "settle.lua",
           "not (kind.again or ordered or redis.call('EXISTS', lock) == 1)", "not (kind.again or ordered)"),
    Mutant("failures-uncounted", "A failed run counts no failure.", LUA + "settle.lua",
           "    note(pcall('HINCRBY', KEYS[1], item_of(KEYS[i + 4]), 1), 'HINCRBY')\n", "    local _\n"),
    Mutant("place-kept", "A settlement does not release its fleet slot.", LUA + "settle.lua",
           "crowded and pcall('EXISTS', KEYS[2]) ~= 0 and note(pcall('ZREM', KEYS[2], unpack(ids)), 'ZREM')", "false"),
    Mutant("end-wakes-nobody", "A settlement wakes no host.", LUA + "settle.lua",
           "  if notified == 0 then note(pcall('PUBLISH', ARGV[2], news), 'PUBLISH') end\n", ""),
    Mutant("record-twice", "A run whose settlement is repeated has two records.", LUA + "settle.lua",
           "not (kind.again and written and noted(ids[i], kind.history))", "true"),
    Mutant("order-ignored", "An operator's quarantine of a running item has no effect at the end of its run.",
           LUA + "settle.lua", "  if is_ours and ordered then\n", "  if false then\n"),
    Mutant("history-grows", "The history is never trimmed.", PARTS + "history.lua",
           "  local trimmed = redis.pcall('LTRIM', history.key, kept == 0 and 1 or 0, math.max(kept - 1, 0))\n",
           "  local trimmed = {}\n"),
    Mutant("failures-displaced", "Failed runs are in the same history as successful ones.", PARTS + "history.lua",
           "local kind = age == '' and '' or 'failed-'", "local kind = ''"),
    Mutant("kept-forever", "The record of a run stays after the quarantine that it caused.", PARTS + "history.lua",
           "    if not lasts(other) then redis.pcall('HDEL', key, other) end\n", ""),
    # ---- Lua: renewals
    Mutant("renews-others", "A renewal does not check the holder of the lock.", LUA + "renew.lua",
           "  elseif found == value then\n", "  elseif found then\n"),
    Mutant("retakes-late", "A renewal that arrives too late locks its item again.", LUA + "renew.lua",
           "local retakes = now_ms < tonumber(ARGV[3])\n", "local retakes = ARGV[3] ~= '0'\n"),
    Mutant("renews-short", "A renewal extends a lock by a quarter of its lifetime.", LUA + "renew.lua",
           "    state = try('PEXPIRE', KEYS[i], expiry_ms) and 1 or 4\n",
           "    state = try('PEXPIRE', KEYS[i], math.floor(expiry_ms / 4)) and 1 or 4\n"),
    Mutant("place-not-renewed", "A renewal does not renew the fleet slot.", LUA + "renew.lua",
           "    if ARGV[2] == '1' then try('ZADD', KEYS[1], until_ms, string.sub(value, -26)) end\n", ""),
    Mutant("renew-forgets-name", "A renewal locks an item again that is locked under the other name.", LUA + "renew.lua",
           "    if retakes and not (two_names and held_by_other(KEYS[i])) then\n", "    if retakes then\n"),
    # ---- Lua: claims
    Mutant("right-end-unseen", "A claim notifies no waiter of a new item while another item is free.",
           PARTS + "claim_share.lua", "if free <= others and", "if free <= called and"),
    Mutant("claim-over-lock", "A claim of one item ignores its lock.", PARTS + "claim_fast_path.lua",
           "ARGV[2] .. ARGV[first_run], 'PX', ARGV[3], 'NX') then", "ARGV[2] .. ARGV[first_run], 'PX', ARGV[3]) then"),
    Mutant("claims-over-locks", "A claim of several items ignores their locks.", PARTS + "claim_take.lua",
           "ARGV[2] .. ARGV[first_run + #taken], 'PX', ARGV[3], 'NX') then",
           "ARGV[2] .. ARGV[first_run + #taken], 'PX', ARGV[3]) then"),
    Mutant("lock-for-good", "The lock of a claim never expires.", PARTS + "claim_fast_path.lua",
           "ARGV[2] .. ARGV[first_run], 'PX', ARGV[3], 'NX') then", "ARGV[2] .. ARGV[first_run], 'NX') then"),
    Mutant("free-groups-skipped", "A claim skips groups of items of which one is free.", PARTS + "claim_take.lua",
           "unpack(names, first, last)) ~= last - first + 1 then", "unpack(names, first, last)) == 0 then"),
    Mutant("positions-ignored", "A claim does not search near known positions.", PARTS + "claim_middle.lua",
           "if ends and #ARGV[5] > 2 then", "if false then"),
    Mutant("positions-wrong", "A peek returns the position of a free item from the wrong end.", LUA + "peek.lua",
           "ARGV[(k - 1) * 4 + 3] - index - 1", "index"),
    Mutant("turn-loses", "A rotation of a list loses an item.", LUA + "claim.lua",
           "  redis.call('LTRIM', KEYS[1], turned, -1)\n", "  redis.call('LTRIM', KEYS[1], turned + 1, -1)\n"),
    Mutant("turn-doubles", "A rotation of a list leaves its items at the left end, too.", LUA + "claim.lua",
           "  redis.call('LTRIM', KEYS[1], turned, -1)\n", ""),
    Mutant("turn-pops", "A claim of one item removes it from the list.", PARTS + "claim_fast_path.lua",
           "  if length > 1 then redis.call('LMOVE', KEYS[1], KEYS[1], 'LEFT', 'RIGHT') end\n",
           "  redis.call('LTRIM', KEYS[1], 1, -1)\n"),
    Mutant("pause-ignored", "A claim ignores a pause.", LUA + "claim.lua",
           "if pause_ends ~= -2 then\n", "if false then\n"),
    Mutant("limit-ignored", "A claim ignores fleet_concurrency.", LUA + "claim.lua",
           "  room = limit - redis.call('ZCARD', KEYS[4])\n", "  room = limit\n"),
    Mutant("no-places", "A claim acquires no fleet slot.", LUA + "claim.lua",
           "  if limit > 0 then take_places(KEYS[4], runs, now_ms + ARGV[3], ARGV[3]) end\n", ""),
    Mutant("quarantine-ignored", "A claim ignores the index of quarantines.", PARTS + "claim_take.lua",
           "  elseif indexed and redis.call('HEXISTS', KEYS[6], item) == 1 then\n", "  elseif false then\n"),
    Mutant("fence-stays", "A claim does not increase the fence.", PARTS + "claim_results.lua",
           "  redis.pcall('SET', key, string.format('%.0f', fence + count - 1))\n", ""),
    Mutant("fence-back", "After a failover, the fence decreases.", PARTS + "claim_results.lua",
           ", now_us, seen + 1)", ", now_us)"),
    Mutant("names-unmarked", "A claim does not record its name of locks.", PARTS + "other_locks.lua",
           "  redis.call('SET', mark_of(own_locks), '1')\n", ""),
    Mutant("line-stays", "The turn of a dead host is never passed on.", PARTS + "notify_next_waiter.lua",
           "local gone = receivers == 0 and not in_cluster and", "local gone = false and"),
    Mutant("undo-nothing", "An in-doubt claim is not undone.", LUA + "undo_claim.lua",
           "  local run = type(found) == 'string' and ours[found]\n", "  local run = false\n"),
    # ---- Lua: jobs and schedules
    Mutant("job-stays-queued", "A claimed job stays in its queue.", LUA + "job_claim.lua",
           "if looked > 0 then steps[#steps + 1] = {'RPOP', ids, looked} end\n", ""),
    Mutant("job-unclaimed", "A job leaves its queue without being claimed.", LUA + "job_claim.lua",
           "  steps[#steps + 1] = {'ZADD', claimed, unpack(scores)}\n", ""),
    Mutant("requeue-loses", "A job that is requeued is lost.", LUA + "job_settle.lua",
           "    redis.call('LPUSH', ids, job.id)\n", ""),
    Mutant("cancel-loses", "A cancelled job is lost.", PARTS + "feed_job.lua",
           "  redis.call('LPUSH', ids, id)\n  unclaim(id, lease)\n", "  unclaim(id, lease)\n"),
    Mutant("old-claim-ends", "A run settles a job that another run has claimed.", PARTS + "job_claims.lua",
           "  return note and score and tonumber(score) == note.score\n", "  return note and score and true\n"),
    Mutant("recover-early", "A job is recovered before its lease has expired.", LUA + "job_recover.lua",
           "  elseif noted_as.until_ms > now_ms then\n    next_ms = math.min(next_ms, noted_as.until_ms)\n"
           "  elseif redis.call('EXISTS', lease) == 1 then\n", "  elseif false then\n"),
    Mutant("begun-counts-not", "A job whose host died during its run counts no failure.", LUA + "job_renew.lua",
           "note.mark == 'n' and '-' or note.mark", "note.mark"),
    Mutant("schedule-others-end", "A settlement changes a job that another host runs.", LUA + "schedule_settle.lua",
           "local ours = found == tag\n", "local ours = true\n"),
    Mutant("schedule-key-stays", "A settlement keeps the key that marks its job as running.",
           LUA + "schedule_settle.lua", "if ours then\n  redis.call('DEL', KEYS[8])\n", "if ours then\n"),
    # ---- C++: leases
    Mutant("lease-never-lost", "An expired lease is not reported as lost.", STORE + "leases.cpp",
           "    if (now >= lease->ends && !lease->lost) {\n", "    if (false) {\n"),
    Mutant("lease-from-answer", "The lifetime of a lease is counted from the reply.", STORE + "leases.cpp",
           "  lease.ends = sent + expiry;\n", "  lease.ends = clock_.now() + expiry;\n"),
    Mutant("lease-starts-late", "A run may start under an expiring lease.", STORE + "leases.cpp",
           "  return leases_->clock_.now() >= held_->ends - warning(held_->terms.expiry);\n", "  return false;\n"),
    Mutant("foreign-is-ours", "A lock of another holder counts as renewed.", STORE + "leases.cpp",
           "  if (state == Renewed::foreign || state == Renewed::gone) {\n", "  if (state == Renewed::gone) {\n"),
    Mutant("retry-never", "A failed renewal is not retried.", STORE + "leases.cpp",
           "  lease.renew_at = clock_.now() + pause_before_retry(lease.terms.expiry);\n",
           "  lease.renew_at = clock_.now() + 100 * lease.terms.expiry;\n"),
    # ---- C++: settlements and claims
    Mutant("again-unsaid", "A repeated settlement is not marked as repeated.", STORE + "settlements_impl.hpp",
           "  run->call.again = run->call.again || trouble->maybe_done;\n", ""),
    Mutant("stale-unsaid", "A settlement under an expired lease is not marked as outdated.", STORE + "settlements_impl.hpp",
           "now > run->times.lease_ends;\n", "now < Instant{};\n"),
    Mutant("end-forgotten", "A refused settlement is not retried.", STORE + "settlements_impl.hpp",
           "  refused_.push_back(run);\n", "  return over(run);\n"),
    Mutant("end-early-lease", "A lease is renewed after the end of its run.", STORE + "claimer_impl.hpp",
           "  held_.erase(found);\n", ""),
    Mutant("late-claim-kept", "A claim whose reply arrived too late is kept.", STORE + "claimer_impl.hpp",
           "  if (is_late(open_)) {\n", "  if (false) {\n"),
    Mutant("lost-claim-forgotten", "An in-doubt claim is not searched for.", STORE + "in_doubt_claims.cpp",
           "  claims_.push_back({std::move(call), until});\n",
           "  static_cast<void>(call);\n  static_cast<void>(until);\n"),
    Mutant("slot-moves-unseen", "Lists are not peeked at again when a hash slot has moved.",
           "src/redis/cluster_state.cpp", "  if (moved && node_listener_ != nullptr) node_listener_->on_slots_moved();\n",
           "  if (moved) return;\n"),
    Mutant("reports-lost", "Lists are not peeked at again when a server of a cluster has a new connection for reports.",
           STORE + "tracking.cpp", "  if (alone_) lose_all();  // owners of keys may peek now\n", ""),
    # ---- C++: sources and the poller
    Mutant("wake-dropped", "A wake-up is dropped.", CLAIMING,
           "  } else if (begin_wake(turn)) {\n", "  } else if (turn && begin_wake(turn)) {\n"),
    Mutant("turn-dropped", "A turn is dropped.", CLAIMING,
           "  } else if (begin_wake(turn)) {\n", "  } else if (!turn && begin_wake(turn)) {\n"),
    Mutant("back-dropped", "After a reconnect, idle lists are not polled.", CLAIMING,
           "    come_back();\n", ""),
    Mutant("turn-kept", "A host without a free slot keeps its turn.", CLAIMING,
           "    if (turn) on_unused_turn();\n", ""),
    Mutant("held-drifts", "A claim that is handed back counts as held.", CIRCULAR + "source.cpp",
           "void CircularSource::hand_back(const Claim& claim) {\n  --held_;\n",
           "void CircularSource::hand_back(const Claim& claim) {\n"),
    Mutant("woken-forgotten", "A wake-up during a claim is forgotten.", CIRCULAR + "source.cpp",
           "  outdate_claim();  // the item may have been locked when the claim examined it\n", ""),
    Mutant("one-too-many", "A list runs one item more than its concurrency.", "src/core/poller.cpp",
           "  return limit > reserved_ ? limit - reserved_ : 0;\n",
           "  return limit > reserved_ ? limit - reserved_ + 1 : 0;\n"),
    Mutant("place-lost", "A slot is not released after a run.", "src/core/poller.cpp",
           "  if (!next_waits) release(1);\n  advance();\n", "  advance();\n"),
    Mutant("claims-dropped", "Claims that arrive while the list is quiet are dropped.", "src/core/poller.cpp",
           "    for (const Claim& claim : reply.claims) source_->hand_back(claim);\n", ""),
    Mutant("terminate-not", "on_lease_loss = \"terminate\" kills nothing.", "src/core/poller.cpp",
           "  if (active != nullptr && active->rule->on_lease_loss == OnLeaseLoss::terminate)\n"
           "    work_->runs.kill(run, StopReason::lease_lost);\n}\n\n// ---- callbacks of the runs",
           "  static_cast<void>(active);\n}\n\n// ---- callbacks of the runs"),
    Mutant("unstarted-lost", "The claim of a run that could not start is never handed back.", "src/core/poller.cpp",
           "  source_->hand_back(run.claim);\n  if (short_now)", "  if (short_now)"),
]


def misfits(root: pathlib.Path):
    """Returns a message for each mutant whose old text does not occur exactly once in its file."""
    return [f"{mutant.name}: {mutant.file} has its text {count} times" for mutant in MUTANTS
            if (count := (root / mutant.file).read_text().count(mutant.old)) != 1]
