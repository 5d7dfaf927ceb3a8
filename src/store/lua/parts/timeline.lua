-- Puts jobs on the timeline. Before this stand statuses and now_s (parts/enqueue.lua) and
--   timeline  the key

local earliest = false -- what was put on it is before all else
local function put_on_timeline(job, at_s)
  -- Where a right is missing, its status says nothing that is not so.
  redis.call('ZADD', timeline, at_s, job)
  redis.call('HSET', statuses, job, 'TML:' .. now_s)
  if not earliest then earliest = redis.call('ZRANGE', timeline, 0, 0)[1] == job end
end

-- Who dispatches hears of an earlier job than he waits for.
local function tell_earliest(channel)
  if earliest then redis.pcall('PUBLISH', channel, 'timeline') end
end
