-- Sets the schedules of jobs and acts on them, in one step.
--
-- KEYS  1 schedules  2 statuses  3 timeline  4 due  5 jitter  6 failures
-- ARGV  1 prefix of queues ("redbike-work-")  2 wake channel
--       3… for each job:
--          the job; its new schedule
--          effect: "stop", "bad", "enqueue", "at"
--          "at": Unix time; "bad": condition on the stored schedule: "" none, "n" there is none,
--          "s…" this one, of a job whose status is BAD or missing
--          its jitter in ms; "" none
-- Reply {for each job that was not set because of that condition: its number from 1, "b" if its
--       status is BAD or missing, else "", and its schedule, …}
-- An error (a key of a wrong type): no job was set.

local schedules, statuses, timeline, work = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local jitters = KEYS[5]
local now_s = redis.call('TIME')[1]
-- include parts/types.lua
-- include parts/enqueue.lua
-- include parts/timeline.lua
-- include parts/jitter.lua

local wrong = first_wrong(schedules, 'hash', statuses, 'hash', timeline, 'zset')
if wrong then return wrong end
local examined = {}
for i = 3, #ARGV, 5 do
  local code = code_of(ARGV[i])
  if ARGV[i + 2] == 'enqueue' and not examined[code] then
    examined[code] = true
    wrong = no_queue(ARGV[i])
    if wrong then return wrong end
  end
end

local reply = {}
-- Returns whether an invalid schedule may replace the stored one. The stored one counts as valid,
-- unless the caller has checked the same text. Another client may support more: then its status is
-- not BAD.
local function may_replace(i)
  local wanted = ARGV[i + 3]
  local stored = wanted ~= '' and redis.call('HGET', schedules, ARGV[i])
  if not stored then return true end
  local status = redis.call('HGET', statuses, ARGV[i])
  local bad = not status or string.sub(status, 1, 4) == 'BAD:'
  if bad and wanted == 's' .. stored then return true end
  for _, word in ipairs({(i + 2) / 5, bad and 'b' or '', stored}) do reply[#reply + 1] = word end
  return false
end

for i = 3, #ARGV, 5 do
  local job, effect = ARGV[i], ARGV[i + 2]
  if effect ~= 'bad' or may_replace(i) then
    redis.pcall('HDEL', jitters, job)
    if ARGV[i + 4] ~= '' then redis.call('HSET', jitters, job, ARGV[i + 4]) end
    redis.call('HSET', schedules, job, ARGV[i + 1])
    redis.pcall('HDEL', KEYS[4], job)
    if redis.pcall('HGET', KEYS[6], job) == '0' then redis.pcall('HDEL', KEYS[6], job) end
    if effect == 'enqueue' then
      enqueue(job)
    elseif effect == 'at' then
      put_on_timeline(job, ARGV[i + 3] + jitter_of(job, ARGV[i + 3]))
    else
      redis.call('HSET', statuses, job, (effect == 'stop' and 'STP:' or 'BAD:') .. now_s)
    end
  end
end
tell_queued(ARGV[2])
tell_earliest(ARGV[2])
return reply
