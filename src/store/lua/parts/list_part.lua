-- Reads `count` items of a list from index `first` on. If `first` is below 0, it counts from the
-- end. The length of items is unknown before they are read: pieces are small if items are long, and
-- reading stops at the item that reaches `most_bytes`.
-- Returns the items, the index of the first one, and whether it read all of this part.
local function list_part(list, first, count, most_bytes)
  if first < 0 then first = math.max(0, redis.call('LLEN', list) + first) end
  local items, read, bytes, piece, longest = {}, 0, 0, 1, 0
  while read < count do
    if bytes >= most_bytes then return items, first, false end
    local found = redis.call('LRANGE', list, first + read, first + math.min(read + piece, count) - 1)
    if #found == 0 then break end
    longest = math.floor(longest / 2)
    for i = 1, #found do
      local item = found[i]
      read = read + 1
      items[read] = item
      bytes = bytes + #item
      if #item > longest then longest = #item end
      if bytes >= most_bytes then break end
    end
    piece = math.max(1, math.min(512, math.floor(262144 / (longest + 1))))
  end
  return items, first, true
end
