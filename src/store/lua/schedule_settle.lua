-- Settles a run in one step: key of the job, fleet slot, history and events, and the disposition of
-- the job.
--
-- KEYS  1 schedules  2 statuses  3 timeline  4 claims  5 failures  6 slots  7 runs  8 key that
--         exists while the job is running  9 due  10 jitter
-- ARGV  1 prefix of queues  2 wake channel  3 events channel
--       4 further members of the run record, each after a comma
--       5 job  6 tag  7 run ID
--       8 disposition of the job, if the key has this tag:
--          "enqueue", "stop", "bad", "at", "in", "unset", "die"
--          "later"  back on the timeline after ARGV 9 seconds
--          "back"   to the end of its queue from which jobs are claimed
--          "later" and "back" have no effect if the job was set or unset since the claim, unless it
--          became due after that during the run and could not be enqueued
--       9 "at": Unix time; "in", "later": seconds from now
--      10 basis of the decision: "" none, "n" no schedule, "s…" this schedule
--      11 "at": the Unix time after which it is the next time; 12 "1": the schedule starts at that
--         time, so the next time does not depend on the time of this call
--      13 new schedule; "": unchanged
--      14 consecutive failures: "keep", "reset", "increment". With "stop" and an unchanged schedule,
--         "reset" stores 0: the job has finished, and was not stopped
--      15 "1": this call may have been executed before (its reply was lost)
--      16 limits of the history (parts/history.lua); "0": no run record
--      17 message for the events channel, a JSON object; "": none
--      18 "1": the next time is the first one after the time in the key due (catch_up = "all")
--      19 "die": record to keep while the job is dead, a JSON object; "": none
--      20 limits of the breaker (parts/breaker_settle.lua); "": none
--      21 its entry in the breaker: "+" succeeded, "-" failed, "?" the death of a job whose run is
--         not entered, "" none
--      22 "die": seconds from now, if the breaker prevents that
--      23 the name of the list, if its key prefix is not its name; else ""
-- Reply {state, error of Redis for keys other than the job's key or "", time of Redis in s,
--        the schedule as in ARGV 10, the time after which the next time is searched or ""}
--       state: "done"     the key had this tag
--              "not ours" it had another one, and the job was not changed
--              "changed"  nothing was changed: decide again, with this schedule and this time
-- A job whose key is missing, but whose claim is still recorded, is left to schedule_recover.lua.

local schedules, statuses, timeline, taken = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local failures, runs_key, work, job, tag, id = KEYS[5], KEYS[7], ARGV[1], ARGV[5], ARGV[6], ARGV[7]
local jitters, own = KEYS[10], ARGV[23] == '' and '' or ':' .. ARGV[23]
local now_s = redis.call('TIME')[1]
-- include parts/types.lua
-- include parts/enqueue.lua
-- include parts/timeline.lua
-- include parts/jitter.lua
-- include parts/delete_jobs.lua
-- include parts/list_part.lua
-- include parts/history.lua
-- include parts/breaker_settle.lua
-- include parts/missed_due.lua

local wrong = first_wrong(schedules, 'hash', statuses, 'hash', timeline, 'zset', taken, 'hash')
  or no_queue(job)
if wrong then return wrong end

-- Reads only as much as is needed for the comparison: the key of another client may be of any
-- length and type.
local found = redis.pcall('GETRANGE', KEYS[8], 0, #tag)
if type(found) == 'table' and not string.find(found.err, 'WRONGTYPE') then return found end
local ours = found == tag
local gone = found == '' and redis.call('EXISTS', KEYS[8]) == 0

local note_of_take = redis.call('HGET', taken, job)
local read, entry = pcall(cjson.decode, note_of_take or '')
if not read or type(entry) ~= 'table' or entry.tag ~= tag then entry = nil end

local due_at = ARGV[18] == '1' and redis.pcall('HGET', KEYS[9], job)
due_at = type(due_at) == 'string' and tonumber(due_at) or nil
if ours and ARGV[10] ~= '' then
  local schedule = redis.call('HGET', schedules, job)
  schedule = schedule and 's' .. schedule or 'n'
  local at, after, now = tonumber(ARGV[9]), tonumber(ARGV[11]), tonumber(now_s)
  local timely = not after or ARGV[12] == '1' or after == now
    or after < now and (ARGV[8] ~= 'at' or at > now)
  if due_at and due_at < now and schedule ~= 'n' then timely = after == due_at else due_at = nil end
  if schedule ~= ARGV[10] or not timely then
    return {'changed', '', now_s, schedule, due_at and string.format('%d', due_at) or ''}
  end
end

local effect, seconds, counted = ARGV[8], ARGV[9], ARGV[14]
if ours and ARGV[21] ~= '' then read_breaker(ARGV[20]) end
if breaker then
  local means = judge_run(ARGV[21], id, job, effect == 'die', tag, ARGV[17])
  if means == 'open' then counted = 'keep' end
  if means and (effect == 'die' or effect == 'later') then
    seconds = means == 'open' and math.ceil(breaker.min_ms / 1000)
      or effect == 'die' and ARGV[22] or seconds
    effect = 'later'
  end
end

local function untouched() -- since the claim
  local status = redis.call('HGET', statuses, job)
  return status
    and (not entry or status == 'WRK:' .. tostring(entry.wrk) or has_missed(job, status))
end
local effects = {
  enqueue = function() enqueue(job) end,
  stop = function() redis.call('HSET', statuses, job, 'STP:' .. now_s) end,
  bad = function() redis.call('HSET', statuses, job, 'BAD:' .. now_s) end,
  die = function() redis.call('HSET', statuses, job, 'DIE:' .. now_s) end,
  at = function() put_on_timeline(job, ARGV[9] + jitter_of(job, ARGV[9])) end,
  ['in'] = function() put_on_timeline(job, now_s + ARGV[9]) end,
  unset = function() forget(job) end,
  later = function() if untouched() then put_on_timeline(job, now_s + seconds) end end,
  back = function() if untouched() then enqueue(job, true) end end,
}
if ours then
  redis.call('DEL', KEYS[8])
  if ARGV[13] ~= '' then redis.call('HSET', schedules, job, ARGV[13]) end
  effects[effect]()
  if ARGV[18] == '1' and effect ~= 'later' and effect ~= 'back' then redis.pcall('HDEL', KEYS[9], job) end
end
if entry and not gone then redis.call('HDEL', taken, job) end

-- Not for a job that was unset.
if ours and counted == 'increment' and redis.call('HEXISTS', statuses, job) == 1 then
  note(redis.pcall('HINCRBY', failures, job, 1), 'HINCRBY')
elseif ours and counted == 'reset' and ARGV[8] == 'stop' and ARGV[13] == '' then
  note(redis.pcall('HSET', failures, job, 0), 'HSET')
elseif ours and counted == 'reset' then
  note(redis.pcall('HDEL', failures, job), 'HDEL')
end
if ARGV[17] ~= '' and not (ARGV[15] == '1' and ARGV[16] ~= '0' and noted(id, ARGV[16])) then
  if ARGV[16] ~= '0' then
    enter(ARGV[17], ARGV[4], ARGV[16])
    write_history()
  end
  note(redis.pcall('PUBLISH', ARGV[3], ARGV[17]), 'PUBLISH')
end
local function is_dead(other)
  local status = redis.pcall('HGET', statuses, other)
  return type(status) == 'string' and string.sub(status, 1, 3) == 'DIE'
end
if ours and effect == 'die' then keep_record(job, ARGV[19], ARGV[17], is_dead) end
write_breaker(ARGV[2], function(dead)
  if not is_dead(dead) then return end
  local at_s = now_s + math.ceil(breaker.min_ms / 1000)
  note(redis.pcall('ZADD', timeline, at_s, dead), 'ZADD')
  note(redis.pcall('HSET', statuses, dead, 'TML:' .. now_s), 'HSET')
  earliest = true
end, function(failed) note(redis.pcall('HDEL', failures, failed), 'HDEL') end)
local places = note(redis.pcall('ZREM', KEYS[6], id), 'ZREM')
if places == 1 then redis.pcall('PUBLISH', ARGV[2], 'free') end
tell_queued(ARGV[2])
tell_earliest(ARGV[2])
return {ours and 'done' or 'not ours', refused, now_s, '', ''}
