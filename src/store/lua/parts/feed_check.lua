-- Checks that a feed exists and has the right kind. Needs parts/types.lua. Errors are error
-- replies, of which callers parse the first word.

local function no_feed() return redis.error_reply('NOFEED there is no such feed') end

-- Returns an error reply, or nil. `feeds`: set of all names; nil: it is in another hash slot, and
-- was checked before. `kind`: "feed", "sorted_feed", "queue", "job"; nil: any. A feed without a
-- type is of any kind.
local function unusable(feeds, feed, config, kind)
  local wrong = feeds and wrong_type(feeds, 'set')
  if wrong then return wrong end
  if feeds and redis.call('SISMEMBER', feeds, feed) == 0 then return no_feed() end
  local found = redis.pcall('HGET', config, 'type')
  if type(found) == 'table' then return wrong_type(config, 'hash') or found end
  if kind and found and found ~= kind then
    return redis.error_reply('WRONGKIND ' .. string.sub(found, 1, 64))
  end
end
