-- Publishes items in a feed, or edits those whose IDs exist. If the feed has a max_length, the
-- newest items stay. An edited ID counts once, and becomes the newest.
--
-- KEYS  1 config  2 ids  3 items  4 publishes  5 feeds; none: it is in another hash slot, and was
--         checked before
-- ARGV  1 feed  2 publish channel  3 edit channel  4 retract channel
--       5 maximum number of old items to remove in a call
--       6… for each: id, item
-- Reply {number of published items: fewer if more old items must be removed first,
--        1: the feed has times in seconds and in ms, so that the newest ones are not known}
-- A time has the unit of the highest time in the feed, ms in an empty one. Two items of the same
-- moment differ by a fraction, so that their order is kept.

local ids, items, publishes = KEYS[2], KEYS[3], KEYS[4]
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/count_and_publish.lua
-- include parts/feed_time.lua

local wrong = unusable(KEYS[5], ARGV[1], KEYS[1], 'feed')
  or first_wrong(ids, 'zset', items, 'hash', publishes, 'string')
if wrong then return wrong end
local most = redis.call('HGET', KEYS[1], 'max_length') or '0'
if not string.match(most, '^%d+$') then
  return redis.error_reply('BADLENGTH ' .. string.sub(most, 1, 64))
end
most = tonumber(most)

local highest = tonumber(redis.call('ZREVRANGE', ids, 0, 0, 'WITHSCORES')[2])
local lowest = tonumber(redis.call('ZRANGE', ids, 0, 0, 'WITHSCORES')[2])
local in_seconds = highest and highest < least_ms
local now, step, day, form = now_ms, 1e-3, 86400000, '%.3f'
if in_seconds then now, step, day, form = now_us / 1e6, 1e-6, 86400, '%.6f' end
local last = highest or 0
local function next_time()
  -- A time that is more than a day ahead is not a time of a clock.
  last = last >= now and last < now + day and last + step or math.max(now, 0)
  return string.format(form, last)
end

local left = tonumber(ARGV[5])
local function drop(count, but)
  for _, id in ipairs(redis.call('ZRANGE', ids, 0, count)) do
    if id ~= but and count > 0 then
      redis.call('PUBLISH', ARGV[4], id)
      redis.call('ZREM', ids, id)
      redis.call('HDEL', items, id)
      count = count - 1
      left = left - 1
    end
  end
end

local done = 0
for i = 6, #ARGV, 2 do
  local id, item = ARGV[i], ARGV[i + 1]
  local there = redis.call('ZSCORE', ids, id)
  if most > 0 then
    local over = redis.call('ZCARD', ids) - (there and 1 or 0) - (most - 1)
    if over > left then
      drop(left, id)
      break
    end
    if over > 0 then drop(over, id) end
  end
  count_and_tell(publishes, there and ARGV[3] or ARGV[2], id .. '\0' .. item)
  redis.call('HSET', items, id, item)
  redis.call('ZADD', ids, next_time(), id)
  done = done + 1
end
return {done, most > 0 and lowest and lowest < least_ms and not in_seconds and 1 or 0}
