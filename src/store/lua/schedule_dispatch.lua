-- Dispatches due jobs in one step: moves them from the timeline to their queues, the oldest first.
--
-- KEYS  1 timeline  2 statuses  3 control  4 halted  5 schedules  6 due  7 jitter
-- ARGV  1 prefix of queues  2 wake channel
--       3 maximum number of jobs
--       4 Unix time up to which jobs are due; "": the time of Redis
--       5 "1": regardless of control
--       6 catch_up: "one", "all" or "none"; for codes with another one, ":CODE:CATCH_UP" for each
--       7… decisions about missed jobs, for "none". For each: the job, its schedule, its time on the
--          timeline as in the reply, and "run", "stop" or its next Unix time. A decision counts
--          only if the schedule and the time are unchanged.
-- Reply {status, jobs removed from the timeline, number of these that were enqueued, 1: further
--       jobs are due, else 0, ms until the next is due or -1, time of Redis in ms,
--        number of refused jobs, the first of those, the reason,
--        missed jobs that have no decision yet and stay on the timeline: {job, schedule, time, …},
--        for each job that was removed and not refused: its lateness in ms}
--       status: "ok" or "halted": nothing was changed
-- With "none", a job is missed if it has a recurrence rule and is late by more than 60 s. With "all", the time
-- of each job is stored in the key due, from which its next time is counted.
-- Every job on the timeline is enqueued, also one without a schedule: the settlement of its run
-- deletes it. A score of -inf is due, and +inf is never due. A job is refused if it has no valid
-- queue: if its code names keys of another code, the job becomes BAD and leaves the timeline; if a
-- key of its queue has a wrong type, it is due again after one minute, so that it is not lost and
-- does not block others.

local timeline, statuses, work = KEYS[1], KEYS[2], ARGV[1]
local jitters = KEYS[7]
local time = redis.call('TIME')
local now_s = time[1]
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
-- include parts/types.lua
-- include parts/enqueue.lua
-- include parts/jitter.lua

local wrong = first_wrong(timeline, 'zset', statuses, 'hash', KEYS[3], 'string')
if wrong then return wrong end
if ARGV[5] ~= '1' and redis.call('GET', KEYS[3]) == 'HALT' then
  return {'halted', 0, 0, 0, -1, now_ms, 0, '', '', {}}
end
if redis.call('EXISTS', KEYS[3]) == 0 then redis.pcall('DEL', KEYS[4]) end

local up_to = ARGV[4] ~= '' and ARGV[4] or now_s
local due = redis.call('ZRANGEBYSCORE', timeline, '-inf', up_to, 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local reply = {'ok', #due / 2, 0, 0, -1, now_ms, 0, '', '', {}}
local catch_ups, usual = {}, string.match(ARGV[6], '^%a+')
for code, catch_up in string.gmatch(ARGV[6], ':([^:]+):(%a+)') do catch_ups[code] = catch_up end
local function catch_up_of(job) return next(catch_ups) and catch_ups[code_of(job)] or usual end
local decisions = {}
for i = 7, #ARGV, 4 do decisions[ARGV[i]] = {ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]} end
-- Returns whether the job is missed, and does not enter its queue.
local function is_missed(job, time)
  if now_s - tonumber(time) <= 60 or catch_up_of(job) ~= 'none' then return false end
  local schedule = redis.call('HGET', KEYS[5], job)
  if not schedule or #schedule > 65536 or not string.find(schedule, '=', 1, true) then return false end
  local decision = decisions[job]
  if not decision or decision[1] ~= schedule or decision[2] ~= time then
    local missed = reply[10]
    if #missed < 3 * 64 then
      for _, word in ipairs({job, schedule, time}) do missed[#missed + 1] = word end
    end
    reply[2] = reply[2] - 1
    return true
  end
  if decision[3] == 'run' then return false end
  if decision[3] == 'stop' then
    redis.call('HSET', statuses, job, 'STP:' .. now_s)
    redis.call('ZREM', timeline, job)
  else
    redis.call('ZADD', timeline, decision[3] + jitter_of(job, decision[3]), job)
  end
  return true
end
-- Reasons why jobs of a code cannot be enqueued, checked once for each code: most jobs of a call
-- share a few. False: they can.
local troubles = {}
local function trouble_with(job)
  local code = code_of(job)
  if troubles[code] == nil then
    local bad = collides(code)
    local no = not bad and no_queue(job)
    troubles[code] = bad and {bad = true,
        why = 'its code leads to a key of another queue or of a claimed job; use another code'}
      or no and {why = no.err} or false
  end
  return troubles[code]
end
for i = 1, #due, 2 do
  local job, score = due[i], tonumber(due[i + 1])
  local missed = is_missed(job, due[i + 1])
  local trouble = not missed and trouble_with(job)
  if missed then
    trouble = false
  elseif not trouble then
    if catch_up_of(job) == 'all' and score > 0 and score < 1e12 then
      redis.call('HSET', KEYS[6], job, string.format('%d', math.floor(score)))
    end
    -- The job leaves the timeline last: without permission for its queue, it stays due.
    if enqueue(job) then reply[3] = reply[3] + 1 end
    redis.call('ZREM', timeline, job)
    reply[#reply + 1] = math.floor(math.min(math.max(now_ms - score * 1000, 0), 1e15))
  elseif trouble.bad then
    redis.call('ZREM', timeline, job)
    redis.call('HSET', statuses, job, 'BAD:' .. now_s)
  else
    redis.call('ZADD', timeline, now_s + 60, job)
  end
  if trouble then
    if reply[7] == 0 then reply[8], reply[9] = string.sub(job, 1, 4096), trouble.why end
    reply[7] = reply[7] + 1
  end
end
local next_due = redis.call('ZRANGEBYSCORE', timeline, '-inf', '(+inf', 'WITHSCORES', 'LIMIT', 0, 1)
if #next_due > 0 then
  local at_s = math.max(math.ceil(tonumber(next_due[2])), 0)
  if at_s <= tonumber(up_to) then reply[4] = 1 end
  reply[5] = math.floor(math.min(math.max(at_s * 1000 - now_ms, 0), 1e12))
end
tell_queued(ARGV[2])
return reply
