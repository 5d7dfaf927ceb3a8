-- Whether a claim is worth it: for many lists in which nothing was free, in one call.
--
-- KEYS  a list each
-- ARGV  1 how many bytes of items may be read; the item that comes to that is the last
--       then for each list in turn:
--       1 what stands before an item in the name of its lock ("work:lock:")
--       2 its length when all of it was looked at
--       3 where to look now: an index
--       4 how many items from there
-- Reply for each list 1 if it has another length, or a free item where we looked; else 0, or how
--       many items were looked at, below 0; and last how many bytes were read

local reply, names, owners = {}, {}, {}
local stop, bytes = tonumber(ARGV[1]), 0

-- Items can't be measured before they are read, so few are read at once where they are long.
local function read(k, prefix, first, count)
  local most = bytes + (stop - bytes) / 2 -- no list keeps all others from being looked at
  local piece = 1
  while reply[k] > -count and bytes < most do
    local at = first - reply[k]
    local items = redis.call('LRANGE', KEYS[k], at, at + math.min(piece, count + reply[k]) - 1)
    if #items == 0 then return end
    local longest = 0
    for i = 1, #items do
      names[#names + 1] = prefix .. items[i]
      owners[#names] = k
      bytes = bytes + #items[i]
      reply[k] = reply[k] - 1
      if #items[i] > longest then longest = #items[i] end
      if bytes >= most then break end
    end
    piece = math.max(1, math.min(64, math.floor(262144 / (longest + 1))))
  end
end

-- The same list is not to be the first each time.
local from = redis.call('TIME')[2] % #KEYS
for i = 1, #KEYS do
  local k = (from + i) % #KEYS + 1
  local at = (k - 1) * 4 + 1
  reply[k] = 0
  if redis.call('LLEN', KEYS[k]) ~= tonumber(ARGV[at + 2]) then
    reply[k] = 1
  else
    read(k, ARGV[at + 1], tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]))
  end
end

-- All are locked, as a rule, and one command says so.
if #names > 0 and redis.call('EXISTS', unpack(names)) < #names then
  for i = 1, #names do
    if redis.call('EXISTS', names[i]) == 0 then reply[owners[i]] = 1 end
  end
end
reply[#KEYS + 1] = bytes
return reply
