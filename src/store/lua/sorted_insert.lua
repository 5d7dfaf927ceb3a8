-- Puts items in a sorted feed, each at the same position: one after the other.
--
-- KEYS  1 config  2 ids  3 items  4 publishes  5 idincr
--       6 feeds; none: it is in another slot, and was asked
-- ARGV  1 feed  2 publish channel  3 position channel
--       4 "append", "prepend", "before", "after"  5 the id before or after which
--       6… items
-- Reply the id of each; an error GONE: there is no such id to put it before or after
-- The next number may be taken, where that key was lost: then it is the next that is free.

local ids, items, idincr, where, other = KEYS[2], KEYS[3], KEYS[5], ARGV[4], ARGV[5]
-- include parts/types.lua
-- include parts/feed_known.lua
-- include parts/count_and_tell.lua

local wrong = unusable(KEYS[6], ARGV[1], KEYS[1], 'sorted_feed')
  or first_wrong(ids, 'list', items, 'hash', KEYS[4], 'string', idincr, 'string')
if wrong then return wrong end
local relative = where == 'before' or where == 'after'
if relative and (redis.call('HEXISTS', items, other) == 0 or not redis.call('LPOS', ids, other)) then
  return redis.error_reply('GONE there is no such id')
end
local position = {append = ':end', prepend = 'begin:', before = ':' .. other, after = other .. ':'}
local reply = {}
for i = 6, #ARGV do
  local id
  repeat
    id = string.format('%.0f', redis.call('INCR', idincr))
  until redis.call('HEXISTS', items, id) == 0
  count_and_tell(KEYS[4], ARGV[2], id .. '\0' .. ARGV[i], ARGV[3], id .. '\0' .. position[where])
  redis.call('HSET', items, id, ARGV[i])
  if relative then
    redis.call('LINSERT', ids, string.upper(where), other, id)
  else
    redis.call(where == 'append' and 'RPUSH' or 'LPUSH', ids, id)
  end
  reply[#reply + 1] = id
end
return reply
