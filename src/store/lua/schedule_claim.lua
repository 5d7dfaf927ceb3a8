-- Claims up to N jobs of queues, in one step.
--
-- KEYS  1 control  2 paused  3 fence  4 failures  5 slots  6 statuses  7 claims  8 schedules
--       9 halted  10 breaker; none: the list has no breaker
-- ARGV  1 prefix of queues ("redbike-work-")
--       2 claim value without the run ID ("run:<host>:<pid>:")
--       3 life of the key of a running job, ms
--       4 maximum number of runs in the fleet; 0: no limit
--       5 index of the queue to read first, from 0
--       6 maximum length of a job; a longer one becomes BAD, and leaves its queue
--       7 maximum bytes of jobs to claim; the job that reaches it is the last
--       8 maximum length of a long job, of a schedule, and of the reason of a pause, in the reply
--       9 the largest fencing token of this list that the caller has seen
--      10 the name of the list, if its key prefix is not its name; else ""
--      11 number of queues; then the code of each, in the order of reading (codes may repeat)
--       then a run ID and a tag for each wanted job
-- Reply {status, index of the next queue, time of Redis in ms, ms until there may be jobs or -1,
--        detail, error of Redis for a queue or for keys other than the jobs or "",
--        number of jobs that were too long, start and length of each of those, …
--        job, index of its queue, fencing token, consecutive failures, "s" and its schedule or "n":
--        none or "l": too long for the reply, …}
--       status: "ok"      as many as were wanted
--               "more"    call again: the limits of this call are reached
--               "empty"   the queues have no more
--               "halted"  detail is the operator, if known
--               "paused"  by an operator; detail is the reason
--               "full"    the fleet limit is reached
--               "breaker" the breaker is open; replaces all others except "more", "halted" and
--                         "paused"; detail is the reason. With a job, its run is the probe
-- A job leaves its queue after everything else is written, so that an error of Redis loses none. A
-- job that another program has queued while it is running leaves the queue: it is queued only once.

local statuses, taken_key, breaker, work = KEYS[6], KEYS[7], KEYS[10], ARGV[1]
local time = redis.call('TIME')
local now_s = time[1]
local now_us = time[1] * 1000000 + time[2]
local now_ms = math.floor(now_us / 1000)
local place, told = tonumber(ARGV[5]), tonumber(ARGV[8])
-- include parts/types.lua
-- include parts/claim_results.lua
-- include parts/breaker_claim.lua

local function nothing(status, ms, detail)
  return {status, place, now_ms, ms, detail, '', 0}
end
local wrong = first_wrong(KEYS[1], 'string', KEYS[2], 'string', KEYS[5], 'zset', statuses, 'hash',
  taken_key, 'hash', KEYS[8], 'hash')
if wrong then return wrong end
if redis.call('GET', KEYS[1]) == 'HALT' then
  local who = redis.pcall('GETRANGE', KEYS[9], 0, told - 1)
  return nothing('halted', -1, type(who) == 'string' and who or '')
end
local pause_ends = redis.call('PTTL', KEYS[2])
if pause_ends ~= -2 then
  return nothing('paused', pause_ends, redis.call('GETRANGE', KEYS[2], 0, told - 1))
end

local open, why_open = open_breaker(), nil
if open then
  local wait
  wait, why_open = probe_wait(open, now_ms)
  if wait > 0 then return nothing('breaker', wait, why_open) end
end

local queues = tonumber(ARGV[11])
local first_run = 12 + queues
local want = (#ARGV - first_run + 1) / 2
if open then want = math.min(want, 1) end
local limit, capped = tonumber(ARGV[4]), false
if limit > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now_ms)
  redis.call('ZADD', KEYS[5], 'XX', 0, '') -- without permission for slots, nothing is claimed
  local room = limit - redis.call('ZCARD', KEYS[5])
  if room <= 0 then
    local first = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')
    return nothing(open and 'breaker' or 'full', math.max(1, first[2] - now_ms), why_open or '')
  end
  if room < want then want, capped = room, true end
end

local refused = ''
local dead = {} -- queues of a wrong type
local function next_in(queue)
  if dead[queue] then return false end
  local wrong_queue = first_wrong(queue, 'list', queue .. '-members', 'set')
  if wrong_queue then
    dead[queue] = true
    refused = wrong_queue.err
    return false
  end
  return redis.call('LINDEX', queue, -1)
end
local function leave(queue, job)
  redis.call('RPOP', queue)
  redis.call('SREM', queue .. '-members', job)
end
-- The key is that of the job's own queue, regardless of the queue in which it is: other clients
-- check this key.
local function working_key(job)
  return work .. (string.match(job, '^.*:(.*)$') or job) .. '-' .. job
end

local until_ms = now_ms + tonumber(ARGV[3])
local jobs, places, too_long, bytes = {}, {}, {}, 0
-- Claims a job: returns true, or an error without any change.
local function take(queue, job, run, tag)
  local working = working_key(job)
  if not redis.call('SET', working, tag, 'PX', ARGV[3], 'NX') then
    leave(queue, job)
    return false
  end
  local note = cjson.encode({run = ARGV[2] .. run, tag = tag, ['until'] = until_ms, wrk = now_s,
    queue = string.sub(queue, #work + 1), list = ARGV[10] ~= '' and ARGV[10] or nil})
  local answer = redis.pcall('HSET', taken_key, job, note)
  if type(answer) == 'number' then answer = redis.pcall('HSET', statuses, job, 'WRK:' .. now_s) end
  if type(answer) ~= 'number' then
    redis.pcall('HDEL', taken_key, job)
    redis.call('DEL', working)
    return answer
  end
  leave(queue, job)
  return true
end

local visits, misses = 0, 0
while #jobs < want and misses < queues and visits < 1024 and bytes < tonumber(ARGV[7]) do
  local queue = work .. ARGV[12 + place]
  local job = next_in(queue)
  visits = visits + 1
  if not job then
    misses = misses + 1
  elseif #job > tonumber(ARGV[6]) then
    redis.call('HSET', statuses, job, 'BAD:' .. now_s)
    leave(queue, job)
    too_long[#too_long + 1] = job
    bytes = bytes + #job
  else
    local run = first_run + 2 * #jobs
    local answer = take(queue, job, ARGV[run], ARGV[run + 1])
    if type(answer) == 'table' then
      if #jobs == 0 then return answer end
      refused = answer.err
      break
    elseif answer then
      jobs[#jobs + 1] = job
      places[#places + 1] = place
      bytes = bytes + #job
      misses = 0
    end
  end
  place = (place + 1) % queues
end

local reply = {'ok', place, now_ms, -1, '', '', #too_long}
if #jobs < want then
  reply[1] = misses < queues and 'more' or 'empty'
elseif capped then
  reply[1] = 'full'
end
for _, job in ipairs(too_long) do
  reply[#reply + 1] = string.sub(job, 1, told)
  reply[#reply + 1] = #job
end
if #jobs > 0 then
  local fence = next_fence(KEYS[3], #jobs, now_us, ARGV[9])
  local failures, unknown = failures_in_a_row(KEYS[4], jobs)
  refused = unknown or refused
  local runs = {}
  for i, job in ipairs(jobs) do
    local long = redis.call('HSTRLEN', KEYS[8], job) > told
    local schedule = not long and redis.call('HGET', KEYS[8], job)
    reply[#reply + 1] = job
    reply[#reply + 1] = places[i]
    reply[#reply + 1] = fence + i - 1
    reply[#reply + 1] = failures[i]
    reply[#reply + 1] = long and 'l' or schedule and 's' .. schedule or 'n'
    runs[i] = ARGV[first_run + 2 * (i - 1)]
  end
  if limit > 0 then take_places(KEYS[5], runs, until_ms, ARGV[3]) end
  if open then
    begin_probe(working_key(jobs[1]), ARGV[first_run + 1])
    reply[4] = tonumber(ARGV[3])
  end
end
if open and reply[1] ~= 'more' then reply[1], reply[5] = 'breaker', why_open end
reply[6] = refused
return reply
