-- Takes jobs that are due off the timeline and enters them in their queues, oldest first: one step.
--
-- KEYS  1 timeline  2 statuses  3 control  4 halted
-- ARGV  1 what stands before the code of a queue  2 wake channel
--       3 how many jobs at most
--       4 unix time up to which jobs are due; "": Redis's
--       5 "1": whatever control says
-- Reply {status, jobs taken off, of those: entered in a queue, more: 1 others are due, else 0,
--        ms until the next is or -1, Redis's time in ms,
--        how many were refused, the first of those, why,
--        for each that was taken off and not refused: how late that is, in ms}
--       status: "ok" or "halted": nothing was done
-- Whatever is on the timeline is entered, also what no schedule is known of: the run's end forgets
-- it. A score of -inf is due, one of +inf never is. Refused is what has no queue: where the code's
-- keys are those of others, the job is BAD and off the timeline; where a key of its queue is of a
-- wrong type, it is due again in a minute, so that it neither is lost nor holds up others.

local timeline, statuses, work = KEYS[1], KEYS[2], ARGV[1]
local time = redis.call('TIME')
local now_s = time[1]
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
-- include parts/types.lua
-- include parts/enqueue.lua

local wrong = first_wrong(timeline, 'zset', statuses, 'hash', KEYS[3], 'string')
if wrong then return wrong end
if ARGV[5] ~= '1' and redis.call('GET', KEYS[3]) == 'HALT' then
  return {'halted', 0, 0, 0, -1, now_ms, 0, '', ''}
end
if redis.call('EXISTS', KEYS[3]) == 0 then redis.pcall('DEL', KEYS[4]) end

local up_to = ARGV[4] ~= '' and ARGV[4] or now_s
local due = redis.call('ZRANGEBYSCORE', timeline, '-inf', up_to, 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local reply = {'ok', #due / 2, 0, 0, -1, now_ms, 0, '', ''}
-- Why jobs of a code can't be entered, looked at once each: most jobs of a call share a few. False:
-- they can.
local troubles = {}
local function trouble_with(job)
  local code = code_of(job)
  if troubles[code] == nil then
    local bad = collides(code)
    local no = not bad and no_queue(job)
    troubles[code] = bad and {bad = true, why = 'its code names keys of others'}
      or no and {why = no.err} or false
  end
  return troubles[code]
end
for i = 1, #due, 2 do
  local job, score = due[i], tonumber(due[i + 1])
  local trouble = trouble_with(job)
  if not trouble then
    -- Off the timeline last: where a right is missing for its queue, it stays due.
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
