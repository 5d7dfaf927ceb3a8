-- Number of items that a claim of a circular list may lock while other hosts wait. Only claim.lua uses
-- this part. It defines the list, the wait queue and read().

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

-- Returns the number of items that the caller may lock, and the number of free items that were
-- found at both ends, at most the number of free fleet slots. The first number is 0 or
-- less if all items are for other waiters.
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
  -- The items that were claimed longest ago are at the left end, and new ones at the right end. This
  -- claim notifies the waiters of both, since perhaps no other client does.
  local most_bytes = tonumber(ARGV[11])
  local free, examined = free_among(0, min(16, length), most_bytes / 2)
  local more = free == examined and examined < length
  if free <= others and examined < length then
    local first = math.max(examined, length - 16)
    free = free + free_among(first, length - first, most_bytes)
  end
  free = min(free, room)
  -- A scan of the whole list also finds free items in the middle, which `free` does not count.
  if extent ~= -2 then return share, free end
  -- The caller leaves one free item to each other waiter. In its turn, it may claim one item anyway.
  -- If all items read at the left end are free, more items probably are: the caller claims its part
  -- of `want`. If no item at either end is free, this limit does not apply: the scan examines more.
  if more then
    share = min(share, math.ceil(want / (others + 1)))
  elseif free > 0 then
    local spare = free - others
    if my_turn or overdue then spare = math.max(spare, 1) end
    share = min(share, spare)
  end
  return share, free
end
