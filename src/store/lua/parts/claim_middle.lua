-- Examines items that are not at an end of the list: near the positions in ARGV[5], before both ends, or
-- in further calls of a scan of the whole list. Only claim.lua uses this part. It defines the
-- list, read() and take().
-- A rotation moves all items to the left that it does not move to the right end, and it moves only
-- claimed and locked items there. So a search that goes to the left misses no free item.

local behind -- index of the item behind the last claimed one in the middle

-- Examines up to `count` items before the index `stop`, which do not move. Returns the index of the
-- last examined item, or `stop`.
local function examine_before(stop, count, limit, step)
  local last = math.max(0, stop - count)
  while stop > last and #taken + #parked < want and bytes < limit do
    local from = math.max(last, stop - step)
    last_taken = 0
    take(read(from, stop - from, math.huge))
    if last_taken > 0 then behind = from + last_taken end
    stop, step = from, piece
  end
  return stop
end

if ends and #ARGV[5] > 2 then
  local near = {}
  for number in string.gmatch(string.sub(ARGV[5], 3), '%d+') do
    near[#near + 1] = min(length, length - tonumber(number))
  end
  for n = 1, #near do examine_before(near[n], math.floor(1024 / #near), most_bytes / 4, 1) end
  locked, group = {}, 1 -- the next delays to expire are at both ends
end

-- Returns the time (ms) until an item may be free; negative: it is free now.
local function due_in(index)
  local item = redis.call('LRANGE', KEYS[1], index, index)[1]
  local ttl = item and redis.call('PTTL', own_locks .. item)
  return ttl and ttl ~= -1 and ttl or math.huge
end

-- Returns items at the left end that are due later than the item behind the claimed one, for instance
-- after a thousand failures in a row. Without this, they would stay there, because a claim moves only
-- locked items that have a free item behind them.
local function blocked_at_left()
  if not behind or two_names or longest > 65536 then return {} end
  local next_due = due_in(behind)
  if due_in(0) <= next_due then return {} end
  local count = min(behind, 1024)
  while count > 64 and due_in(count - 1) <= next_due do count = math.floor(count / 2) end
  return count > 64 and read(0, count, most_bytes) or {}
end
