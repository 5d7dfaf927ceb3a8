-- Moves an item of a sorted feed.
--
-- KEYS  1 config  2 ids  3 items  4 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 position channel  3 id  4 "begin", "end", "before", "after"
--       5 another ID, for "before" and "after"  6 message: ":3", "3:", "begin:", ":end"
-- Reply 1 moved, 0 there is no such ID; an error GONE: there is no ID as in ARGV 5

local ids, items, id, where, other = KEYS[2], KEYS[3], ARGV[3], ARGV[4], ARGV[5]
-- include parts/types.lua
-- include parts/feed_check.lua

local wrong = unusable(KEYS[4], ARGV[1], KEYS[1], 'sorted_feed')
  or first_wrong(ids, 'list', items, 'hash')
if wrong then return wrong end
if redis.call('HEXISTS', items, id) == 0 then return 0 end
local relative = where == 'before' or where == 'after'
if relative and (redis.call('HEXISTS', items, other) == 0 or not redis.call('LPOS', ids, other)) then
  return redis.error_reply('GONE there is no such id')
end
redis.call('PUBLISH', ARGV[2], id .. '\0' .. ARGV[6])
redis.call('LREM', ids, 1, id)
if relative then
  redis.call('LINSERT', ids, string.upper(where), other, id)
else
  redis.call(where == 'begin' and 'LPUSH' or 'RPUSH', ids, id)
end
return 1
