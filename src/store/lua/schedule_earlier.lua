-- Moves jobs to an earlier time on the timeline. Skips a job whose schedule or time has changed
-- since the caller read it.
--
-- KEYS  1 schedules  2 timeline  3 jitter
-- ARGV  1 wake channel
--       2… for each job: the job, its schedule, its time, its new time
-- Reply number of jobs that are earlier now

local jitters = KEYS[3]
-- include parts/jitter.lua

local moved = 0
for i = 2, #ARGV, 4 do
  local job = ARGV[i]
  if redis.call('HGET', KEYS[1], job) == ARGV[i + 1] and redis.call('ZSCORE', KEYS[2], job) == ARGV[i + 2] then
    local at_s = ARGV[i + 3] + jitter_of(job, ARGV[i + 3])
    if at_s < tonumber(ARGV[i + 2]) then
      redis.call('ZADD', KEYS[2], at_s, job)
      moved = moved + 1
    end
  end
end
if moved > 0 then redis.pcall('PUBLISH', ARGV[1], 'timeline') end
return moved
