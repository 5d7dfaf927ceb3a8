-- Sets the schedules of jobs and acts on them, in one step.
--
-- KEYS  1 schedules  2 statuses  3 timeline
-- ARGV  1 what stands before the code of a queue ("redbike-work-")  2 wake channel
--       3… for each job:
--          the job; its schedule from now on
--          what is done: "stop", "bad", "enqueue", "at"
--          "at": unix time
-- Reply how many jobs were set. An error (a key of a wrong type): none was.

local schedules, statuses, timeline, work = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local now_s = redis.call('TIME')[1]
-- include parts/types.lua
-- include parts/enqueue.lua
-- include parts/timeline.lua

local wrong = first_wrong(schedules, 'hash', statuses, 'hash', timeline, 'zset')
if wrong then return wrong end
local looked_at = {}
for i = 3, #ARGV, 4 do
  local code = code_of(ARGV[i])
  if ARGV[i + 2] == 'enqueue' and not looked_at[code] then
    looked_at[code] = true
    wrong = no_queue(ARGV[i])
    if wrong then return wrong end
  end
end

for i = 3, #ARGV, 4 do
  local job, effect = ARGV[i], ARGV[i + 2]
  redis.call('HSET', schedules, job, ARGV[i + 1])
  if effect == 'enqueue' then
    enqueue(job)
  elseif effect == 'at' then
    put_on_timeline(job, ARGV[i + 3])
  else
    redis.call('HSET', statuses, job, (effect == 'stop' and 'STP:' or 'BAD:') .. now_s)
  end
end
tell_queued(ARGV[2])
tell_earliest(ARGV[2])
return (#ARGV - 2) / 4
