-- Puts jobs on the timeline. Needs statuses and now_s (parts/enqueue.lua). Defined by the including
-- script:
--   timeline  the key

local earliest = false -- whether an added job is the first on the timeline
local function put_on_timeline(job, at_s)
  -- The status is written last, so that it is right if a permission is missing.
  redis.call('ZADD', timeline, at_s, job)
  redis.call('HSET', statuses, job, 'TML:' .. now_s)
  if not earliest then earliest = redis.call('ZRANGE', timeline, 0, 0)[1] == job end
end

-- Notifies dispatching hosts that a job is earlier than all others.
local function tell_earliest(channel)
  if earliest then redis.pcall('PUBLISH', channel, 'timeline') end
end
