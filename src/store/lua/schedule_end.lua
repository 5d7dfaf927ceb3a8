-- Ends a run: key, place in the fleet, history and news, and what becomes of the job. One step.
--
-- KEYS  1 schedules  2 statuses  3 timeline  4 taken  5 failures  6 slots  7 runs  8 the key that
--       says that the job is worked on
-- ARGV  1 what stands before the code of a queue  2 wake channel  3 events channel
--       4 what the history's entry has besides the members of the message, each with a comma before it
--       5 job  6 tag  7 run id
--       8 what becomes of the job, if the key has our tag:
--          "enqueue", "stop", "bad", "at", "in", "unset", "die": as it says
--          "later" back on the timeline in so many seconds, "back" to the taking end of its queue:
--             both not for a job that was set or unset since it was taken, unless what it was set
--             to came due meanwhile, and was for nothing
--       9 "at": unix time; "in", "later": seconds from now
--      10 what that was decided by: "" nothing, "n" that there is no schedule, "s…" this schedule
--      11 "at": the unix time after which it is the next; 12 "1": the schedule begins at that time, so
--         it stays the next, however late this is carried out
--      13 the schedule from now on; "": stays
--      14 failures in a row: "keep", "reset", "increment"
--      15 "1": this may have been carried out before (its answer was lost)
--      16 run records kept, and their bytes, "1000 16777216"; "0": none
--      17 message for the events channel, a JSON object; "": none
-- Reply {state, what Redis refused of all that is noted beside the key or "", Redis's time in s,
--        the schedule as in ARGV 10}
--       state: "done"     the key had our tag
--              "not ours" it had not, and nothing was done with the job
--              "changed"  nothing was done at all: decide again, by this schedule and this time
-- A job whose key is gone, but is still noted as taken, is left to schedule_recover.lua.

local schedules, statuses, timeline, taken = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local failures, runs_key, work, job, tag, id = KEYS[5], KEYS[7], ARGV[1], ARGV[5], ARGV[6], ARGV[7]
local now_s = redis.call('TIME')[1]
-- include parts/types.lua
-- include parts/enqueue.lua
-- include parts/timeline.lua
-- include parts/forget.lua
-- include parts/list_part.lua
-- include parts/history.lua
-- include parts/missed.lua

local wrong = first_wrong(schedules, 'hash', statuses, 'hash', timeline, 'zset', taken, 'hash')
  or no_queue(job)
if wrong then return wrong end

-- No more than tells whether it is ours: another's may be of any length, and of any type.
local found = redis.pcall('GETRANGE', KEYS[8], 0, #tag)
if type(found) == 'table' and not string.find(found.err, 'WRONGTYPE') then return found end
local ours = found == tag
local gone = found == '' and redis.call('EXISTS', KEYS[8]) == 0

local note_of_take = redis.call('HGET', taken, job)
local read, entry = pcall(cjson.decode, note_of_take or '')
if not read or type(entry) ~= 'table' or entry.tag ~= tag then entry = nil end

if ours and ARGV[10] ~= '' then
  local schedule = redis.call('HGET', schedules, job)
  schedule = schedule and 's' .. schedule or 'n'
  local at, after, now = tonumber(ARGV[9]), tonumber(ARGV[11]), tonumber(now_s)
  local timely = not after or ARGV[12] == '1' or after == now
    or after < now and (ARGV[8] ~= 'at' or at > now)
  if schedule ~= ARGV[10] or not timely then return {'changed', '', now_s, schedule} end
end

local function untouched() -- since it was taken
  local status = redis.call('HGET', statuses, job)
  return status
    and (not entry or status == 'WRK:' .. tostring(entry.wrk) or has_missed(job, status))
end
local effects = {
  enqueue = function() enqueue(job) end,
  stop = function() redis.call('HSET', statuses, job, 'STP:' .. now_s) end,
  bad = function() redis.call('HSET', statuses, job, 'BAD:' .. now_s) end,
  die = function() redis.call('HSET', statuses, job, 'DIE:' .. now_s) end,
  at = function() put_on_timeline(job, ARGV[9]) end,
  ['in'] = function() put_on_timeline(job, now_s + ARGV[9]) end,
  unset = function() forget(job) end,
  later = function() if untouched() then put_on_timeline(job, now_s + ARGV[9]) end end,
  back = function() if untouched() then enqueue(job, true) end end,
}
if ours then
  redis.call('DEL', KEYS[8])
  if ARGV[13] ~= '' then redis.call('HSET', schedules, job, ARGV[13]) end
  effects[ARGV[8]]()
end
if entry and not gone then redis.call('HDEL', taken, job) end

-- Not of a job that was unset.
if ours and ARGV[14] == 'increment' and redis.call('HEXISTS', statuses, job) == 1 then
  note(redis.pcall('HINCRBY', failures, job, 1), 'HINCRBY')
elseif ours and ARGV[14] == 'reset' then
  note(redis.pcall('HDEL', failures, job), 'HDEL')
end
if ARGV[17] ~= '' and not (ARGV[15] == '1' and ARGV[16] ~= '0' and noted(id)) then
  if ARGV[16] ~= '0' then
    enter(ARGV[17], ARGV[4])
    write_history(ARGV[16])
  end
  note(redis.pcall('PUBLISH', ARGV[3], ARGV[17]), 'PUBLISH')
end
local places = note(redis.pcall('ZREM', KEYS[6], id), 'ZREM')
if places == 1 then redis.pcall('PUBLISH', ARGV[2], 'free') end
tell_queued(ARGV[2])
tell_earliest(ARGV[2])
return {ours and 'done' or 'not ours', refused, now_s, ''}
