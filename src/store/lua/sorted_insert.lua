-- Inserts items in a sorted feed at one position, one after the other.
--
-- KEYS  1 config  2 ids  3 items  4 publishes  5 idincr
--       6 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 publish channel  3 position channel
--       4 "append", "prepend", "before", "after"  5 the ID for "before" and "after"
--       6… items
-- Reply the ID of each; an error GONE: there is no ID as in ARGV 5
-- If the key of the last number was lost, numbers continue after all that can be found in a few
-- steps: no item is ever overwritten.

local ids, items, idincr, where, other = KEYS[2], KEYS[3], KEYS[5], ARGV[4], ARGV[5]
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/count_and_publish.lua

local wrong = unusable(KEYS[6], ARGV[1], KEYS[1], 'sorted_feed')
  or first_wrong(ids, 'list', items, 'hash', KEYS[4], 'string', idincr, 'string')
if wrong then return wrong end
local relative = where == 'before' or where == 'after'
if relative and (redis.call('HEXISTS', items, other) == 0 or not redis.call('LPOS', ids, other)) then
  return redis.error_reply('GONE there is no such id')
end
local position = {append = ':end', prepend = 'begin:', before = ':' .. other, after = other .. ':'}

-- Finds a number after all existing ones. Each number was counted, and the newest are probably at
-- an end of the list. After these, the step is doubled until a number is free.
local function number_of(text)
  return text and #text < 16 and string.match(text, '^%d+$') and tonumber(text) or 0
end
local function behind_all(last)
  last = math.max(last, number_of(redis.call('GET', KEYS[4])))
  for _, first in ipairs({0, -100}) do
    for _, id in ipairs(redis.call('LRANGE', ids, first, first + 99)) do
      last = math.max(last, number_of(id))
    end
  end
  local step = 1
  while redis.call('HEXISTS', items, string.format('%.0f', last + step)) == 1 do step = step * 2 end
  return last + step
end
local function next_id()
  local is_lost = not redis.call('GET', idincr)
  local id = redis.call('INCR', idincr)
  if is_lost or redis.call('HEXISTS', items, string.format('%.0f', id)) == 1 then
    local free = behind_all(id - 1)
    redis.call('INCRBY', idincr, string.format('%.0f', free - id))
    id = free
  end
  return string.format('%.0f', id)
end

local reply = {}
for i = 6, #ARGV do
  local id = next_id()
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
