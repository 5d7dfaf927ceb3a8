-- Examines items that are not at an end of the list: near the positions in ARGV[5], before both ends, or
-- in further calls of a scan of the whole list. Only claim.lua uses this part. It defines the
-- list, read() and take().
-- A rotation moves all items to the left that it does not move to the right end, and it moves only
-- claimed and locked items there. So a search that goes to the left misses no free item.

local in_middle = false -- whether an item was claimed there

-- Examines up to `count` items before the index `stop`, which do not move. Returns the index of the
-- last examined item, or `stop`.
local function examine_before(stop, count, limit, step)
  local last = math.max(0, stop - count)
  while stop > last and #taken + #parked < want and bytes < limit do
    local from = math.max(last, stop - step)
    take(read(from, stop - from, math.huge))
    in_middle = #taken > 0
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

-- Returns locked items at the left end that are due later than most others, for instance after a
-- thousand failures in a row. Without this, they would stay there, because a claim at the left end moves
-- only locked items that have a free item behind them.
local function blocked_at_left()
  if two_names or longest > 4096 then return {} end
  local first_due, sooner = due_in(0), 0
  for part = 1, 7, 2 do
    if due_in(math.floor(length * part / 8)) < first_due then sooner = sooner + 1 end
    if sooner < (part - 1) / 2 then return {} end -- at least three of four are needed
  end
  local count = 1024
  while count > 64 do
    local step = count / 4
    if count <= length / 2 and due_in(count - 1) >= first_due / 2 and due_in(step) >= first_due / 2
      and due_in(2 * step) >= first_due / 2 and due_in(3 * step) >= first_due / 2 then
      local items, names = read(0, count, most_bytes)
      if redis.pcall('EXISTS', unpack(names)) == #names then return items end
    end
    count = count / 2
  end
  return {}
end
