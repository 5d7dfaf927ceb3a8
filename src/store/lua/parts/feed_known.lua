-- Whether a feed is there and of the right kind. Before this stands parts/types.lua.

-- What keeps us from it, as an error reply. `feeds`: the key with all names; nil: it is in another
-- slot, and was asked before. `kinds`: "queue", "feed", …; one that no client has named is any.
-- Callers tell these errors by their first word.
local function unusable(feeds, feed, config, kind)
  local wrong = wrong_type(config, 'hash') or feeds and wrong_type(feeds, 'set')
  if wrong then return wrong end
  if feeds and redis.call('SISMEMBER', feeds, feed) == 0 then
    return redis.error_reply('NOFEED there is no such feed')
  end
  local found = redis.call('HGET', config, 'type')
  if found and found ~= kind then
    return redis.error_reply('WRONGKIND ' .. string.sub(found, 1, 64))
  end
end
