-- Adds items to a queue.
--
-- KEYS  1 config  2 ids  3 items  4 publishes
--       5 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 "1": at the end from which items are read
--       3… for each: id, item
-- Reply number of items. Long tables are passed to Redis in parts.

local ids, items = KEYS[2], KEYS[3]
-- include parts/types.lua
-- include parts/feed_check.lua

local wrong = unusable(KEYS[5], ARGV[1], KEYS[1], 'queue')
  or first_wrong(ids, 'list', items, 'hash', KEYS[4], 'string')
if wrong then return wrong end
local count = (#ARGV - 2) / 2
redis.call('INCRBY', KEYS[4], count)
for first = 3, #ARGV, 1000 do
  local last = math.min(first + 999, #ARGV)
  local names = {}
  for i = first, last, 2 do names[#names + 1] = ARGV[i] end
  redis.call('HSET', items, unpack(ARGV, first, last))
  redis.call(ARGV[2] == '1' and 'RPUSH' or 'LPUSH', ids, unpack(names))
end
return count
