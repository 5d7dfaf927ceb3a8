-- Replaces an item of a sorted feed.
--
-- KEYS  1 config  2 items  3 publishes  4 feeds; none: it is in another hash slot, and was checked
--         before
-- ARGV  1 feed  2 publish channel  3 id  4 item
-- Reply 1 done, 0 there is no such ID

-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/count_and_publish.lua

local wrong = unusable(KEYS[4], ARGV[1], KEYS[1], 'sorted_feed')
  or first_wrong(KEYS[2], 'hash', KEYS[3], 'string')
if wrong then return wrong end
if redis.call('HEXISTS', KEYS[2], ARGV[3]) == 0 then return 0 end
count_and_tell(KEYS[3], ARGV[2], ARGV[3] .. '\0' .. ARGV[4])
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
return 1
