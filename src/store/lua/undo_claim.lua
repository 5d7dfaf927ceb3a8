-- Undoes an in-doubt claim: frees its locks. A claim moves the items that it locks at the left end to
-- the right end, so the search starts there. It does not find an item that was locked in the middle:
-- this lock expires.
--
-- KEYS  1 list  2 slots
-- ARGV  1 prefix of lock keys ("work:lock:")
--       2 lock value without the run ID ("run:<host>:<pid>:")
--       3 maximum number of items to examine
--       4 maximum number of bytes to read; reading stops after the item that reaches it
--       5 wake channel
--       6… run IDs to search for
-- Reply {run IDs whose locks were found and freed…}

local ours, missing, freed = {}, #ARGV - 5, {}
for i = 6, #ARGV do ours[ARGV[2] .. ARGV[i]] = ARGV[i] end
local most, most_bytes = tonumber(ARGV[3]), tonumber(ARGV[4])
local looked, bytes, longest, piece = 0, 0, 0, 1

local function free(item)
  -- Reads only as much as is needed for the comparison: the lock of another program may be of any
  -- length and type.
  local found = redis.pcall('GETRANGE', ARGV[1] .. item, 0, #ARGV[2] + 26)
  local run = type(found) == 'string' and ours[found]
  if not run then return end
  redis.call('DEL', ARGV[1] .. item)
  redis.pcall('ZREM', KEYS[2], run)
  freed[#freed + 1] = run
end

while looked < most and bytes < most_bytes and #freed < missing do
  local count = math.min(piece, most - looked)
  local items = redis.call('LRANGE', KEYS[1], -(looked + count), -(looked + 1))
  for i = #items, 1, -1 do
    free(items[i])
    bytes = bytes + #items[i]
    longest = math.max(longest, #items[i])
  end
  if #items < count then break end
  looked = looked + count
  piece = math.max(1, math.min(64, math.floor(262144 / (longest + 1))))
end
if #freed > 0 then redis.pcall('PUBLISH', ARGV[5], 'free') end
return freed
