-- Removes items of a part of a list. `items`: the part. `first`: index of its first item in the
-- list. `places`: indexes in `items` of the items to remove. LREM compares all items up to the last
-- one that it removes. So the script replaces the items by a mark and calls LREM once, from the
-- nearer end.
local function remove_places(list, items, first, places)
  local side = first + #items / 2 > redis.call('LLEN', list) / 2 and -1 or 1
  local mark = 'w8y: removed ' .. redis.sha1hex(first .. ':' .. items[places[1]])
  local marked = redis.pcall('LSET', list, first + places[1] - 1, mark)
  if type(marked) == 'table' and marked.err then
    -- If Redis is out of memory, it denies LSET but permits LREM.
    for _, place in ipairs(places) do redis.call('LREM', list, side, items[place]) end
    return
  end
  for i = 2, #places do redis.call('LSET', list, first + places[i] - 1, mark) end
  redis.call('LREM', list, side * #places, mark)
end
