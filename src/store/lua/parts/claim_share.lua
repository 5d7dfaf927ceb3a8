-- Number of items that a claim of a circular list may lock while other hosts wait. Defined by
-- claim.lua, which is the only including script: the list, its wait queue, and read().

-- Returns the numbers of free and of examined items among `count` items from `first` on.
local function free_among(first, count, stop)
  local items, names = read(first, count, stop)
  if #names == 0 then return 0, 0 end
  local locked = redis.call('EXISTS', unpack(names))
  if two_names then
    for i = 1, #items do names[i] = other_locks .. items[i] end
    locked = locked + redis.call('EXISTS', unpack(names))
  end
  return math.max(#names - locked, 0), #names
end

-- Returns the maximum number of items, 0 or less if all are for other waiters, and the number of
-- known items that are free and have a fleet slot.
local function share_of_caller()
  local held = tonumber(ARGV[8])
  local overdue = held < 0 and called == 0
  local part = (limit > 0 and min(limit, length) or length) / (others + 1)
  local share = math.floor(part) - held - called
  if my_turn then
    share = math.max(1, math.ceil(part) - math.max(held, 0))
  elseif held < 0 then
    share = overdue and math.max(1, math.ceil(part)) or 0
  end
  -- The items that were claimed longest ago are at the left end, and new ones at the right end.
  local most_bytes = tonumber(ARGV[11])
  local free, examined = free_among(0, min(16, length), most_bytes / 2)
  local more = free == examined and examined < length
  if free <= called and length > 16 then
    local first = math.max(16, length - 16)
    free = free + free_among(first, length - first, most_bytes)
  end
  free = min(free, room)
  -- A scan of the whole list searches for an item that may be free anywhere.
  if ARGV[5] ~= '-2' then return share, free end
  -- Each other waiter gets a free item before the caller gets a second one. If all items at the
  -- left end are free, there are more, and the caller claims for a part of its slots. If none is
  -- free at both ends, the scan may find some elsewhere.
  if more then
    share = min(share, math.ceil(want / (others + 1)))
  elseif free > 0 then
    local spare = free - others
    if my_turn or overdue then spare = math.max(spare, 1) end
    share = min(share, spare)
  end
  return share, free
end
