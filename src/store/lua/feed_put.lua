-- Adds items to a queue, or jobs to their queue.
--
-- KEYS  1 config  2 ids  3 items  4 publishes  5 published: of jobs
--       6 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 kind: "queue" or "job"  3 "1": at the end from which jobs are claimed
--       4… for each: id, item
-- Reply number of items. Long tables are passed to Redis in parts.

local ids, items, job = KEYS[2], KEYS[3], ARGV[2] == 'job'
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/feed_time.lua
-- include parts/feed_wake.lua

local wrong = unusable(KEYS[6], ARGV[1], KEYS[1], ARGV[2])
  or first_wrong(ids, 'list', items, 'hash', KEYS[4], 'string', KEYS[5], 'zset')
if wrong then return wrong end
local count = (#ARGV - 3) / 2
redis.call('INCRBY', KEYS[4], count)
for first = 4, #ARGV, 1000 do
  local last = math.min(first + 999, #ARGV)
  local names, times = {}, {}
  for i = first, last, 2 do
    names[#names + 1] = ARGV[i]
    times[#times + 1] = now_ms
    times[#times + 1] = ARGV[i]
  end
  redis.call('HSET', items, unpack(ARGV, first, last))
  if job then redis.call('ZADD', KEYS[5], unpack(times)) end
  redis.call(ARGV[3] == '1' and 'RPUSH' or 'LPUSH', ids, unpack(names))
end
if job then tell_waiting(ARGV[1]) end
return count
