-- Removes items from a feed or a sorted feed.
--
-- KEYS  1 config  2 ids  3 items  4 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 kind: "feed" or "sorted_feed"  3 retract channel  4… ids
-- Reply for each 1 removed, 0 it did not exist

local ids, items, sorted = KEYS[2], KEYS[3], ARGV[2] == 'sorted_feed'
-- include parts/types.lua
-- include parts/feed_check.lua

local wrong = unusable(KEYS[4], ARGV[1], KEYS[1], ARGV[2])
  or first_wrong(ids, sorted and 'list' or 'zset', items, 'hash')
if wrong then return wrong end
local reply = {}
for i = 4, #ARGV do
  local id = ARGV[i]
  local there = redis.call('HEXISTS', items, id) == 1
    or not sorted and redis.call('ZSCORE', ids, id)
  if there then
    redis.call('PUBLISH', ARGV[3], id)
    if sorted then redis.call('LREM', ids, 1, id) else redis.call('ZREM', ids, id) end
    redis.call('HDEL', items, id)
  end
  reply[#reply + 1] = there and 1 or 0
end
return reply
