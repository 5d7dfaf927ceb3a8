-- Adds a job with an ID of the caller's choice, unless the feed has a job with this ID.
--
-- KEYS  1 config  2 ids  3 items  4 publishes  5 published  6 claimed  7 cancelled  8 stalled
--       9 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 "1": at the end from which jobs are claimed  3 id  4 payload
-- Reply 1 added, 0 the feed has the job, and nothing was changed

local ids, items, id = KEYS[2], KEYS[3], ARGV[3]
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/feed_time.lua
-- include parts/feed_wake.lua

local wrong = unusable(KEYS[9], ARGV[1], KEYS[1], 'job')
  or first_wrong(ids, 'list', items, 'hash', KEYS[4], 'string', KEYS[5], 'zset', KEYS[6], 'zset',
    KEYS[7], 'hash', KEYS[8], 'set')
if wrong then return wrong end
if redis.call('HEXISTS', items, id) == 1 then return 0 end
-- Remains of a deleted job with this ID, which would keep the new job from being claimed.
redis.call('ZREM', KEYS[6], id)
redis.call('HDEL', KEYS[7], id)
redis.call('SREM', KEYS[8], id)
redis.call('LREM', ids, 0, id)
redis.call('INCR', KEYS[4])
redis.call('HSET', items, id, ARGV[4])
redis.call('ZADD', KEYS[5], now_ms, id)
redis.call(ARGV[2] == '1' and 'RPUSH' or 'LPUSH', ids, id)
tell_waiting(ARGV[1])
return 1
