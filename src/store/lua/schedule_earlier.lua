-- Moves jobs to an earlier time on the timeline. Skips a job whose schedule or time has changed
-- since the caller read it.
--
-- KEYS  1 schedules  2 timeline
-- ARGV  1 wake channel
--       2… for each job: the job, its schedule, its time, its new time
-- Reply number of jobs that are earlier now

local moved = 0
for i = 2, #ARGV, 4 do
  local job = ARGV[i]
  if redis.call('HGET', KEYS[1], job) == ARGV[i + 1] and redis.call('ZSCORE', KEYS[2], job) == ARGV[i + 2] then
    redis.call('ZADD', KEYS[2], ARGV[i + 3], job)
    moved = moved + 1
  end
end
if moved > 0 then redis.pcall('PUBLISH', ARGV[1], 'timeline') end
return moved
