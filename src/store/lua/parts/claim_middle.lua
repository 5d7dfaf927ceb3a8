-- Examines items that are not at an end of the list: near the positions in ARGV[5], before both ends, or
-- in further calls of a scan of the whole list. Only claim.lua uses this part. It defines the list,
-- read() and take().
-- A rotation moves all items to the left that it does not move to the right end. So a search goes to the
-- left.

local searched = 0 -- number of items that were examined by examine_before()

-- Examines up to `count` items before the index `stop`, which do not move, `step` of them at first.
-- Returns the index before which items remain.
local function examine_before(stop, count, limit, step)
  local last = math.max(0, stop - count)
  while stop > last and bytes < limit do
    step = min(step, math.max(1, math.floor((limit - bytes) / (longest + 1))))
    local from = math.max(last, stop - step)
    local items, names = read(from, stop - from, limit)
    if #items < stop - from then break end -- the last items were not read: the next call reads fewer
    searched = searched + take(items, names)
    if #taken + #parked == want then break end -- there may be free items behind the last one
    stop, step = from, min(piece, 4 * step)
  end
  return stop
end

if ends and #ARGV[5] > 2 then
  local near = {}
  for number in string.gmatch(string.sub(ARGV[5], 3), '%d+') do
    near[#near + 1] = min(length, length - tonumber(number))
  end
  for n = 1, #near do
    if #taken + #parked < want then
      examine_before(near[n], math.floor(1024 / #near), most_bytes / 4, 1)
    end
  end
  locked, group = {}, 1 -- the next delays to expire are at both ends
end

-- Returns the times (ms) until eight of the first `count` items may be free, sorted; 0: now. Returns
-- nil if the items are long.
local function due_times(count)
  local due = {}
  for i = 1, 8 do
    local index = math.floor((i - 0.5) * count / 8)
    local item = redis.call('LRANGE', KEYS[1], index, index)[1]
    bytes_of_ends = bytes_of_ends + #item
    if #item > 65536 then return nil end
    local ttl = redis.call('PTTL', own_locks .. item)
    if ttl == -2 and two_names then ttl = redis.call('PTTL', other_locks .. item) end
    due[i] = ttl == -1 and math.huge or math.max(0, ttl)
  end
  table.sort(due)
  return due
end

-- Returns whether the items at the left end are due much sooner than most others. Then a scan must not
-- move them to the right end, because the next claims would not find them there.
local function is_in_order()
  local first = due_times(min(256, length / 8))
  local all = first and due_times(length)
  return all and first[4] < all[2] / 2
end
