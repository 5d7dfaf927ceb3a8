-- Removes items of a part of a list: `places` says which of `items`, of which the first one has index
-- `first` in the list. LREM compares all items up to the last one that it removes, so it is called once,
-- from the nearer end, with a mark in place of the items.
local function remove_places(list, items, first, places)
  local side = first + #items / 2 > redis.call('LLEN', list) / 2 and -1 or 1
  local mark = 'w8y: removed ' .. redis.sha1hex(first .. ':' .. items[places[1]])
  local marked = redis.pcall('LSET', list, first + places[1] - 1, mark)
  if type(marked) == 'table' and marked.err then
    -- If Redis is out of memory, it permits nothing but removal.
    for _, place in ipairs(places) do redis.call('LREM', list, side, items[place]) end
    return
  end
  for i = 2, #places do redis.call('LSET', list, first + places[i] - 1, mark) end
  redis.call('LREM', list, side * #places, mark)
end
