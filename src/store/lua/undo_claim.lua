-- Undoes an in-doubt claim: frees its locks. A claim moves the items that it examines to the end of
-- its list, so the search starts there, a part of the items in each call.
--
-- KEYS  1 list  2 slots
-- ARGV  1 prefix of lock keys ("work:lock:")
--       2 lock value without the run ID ("run:<host>:<pid>:")
--       3 number of items at the end that were examined before
--       4 maximum number of items to examine in this call
--       5 maximum number of bytes to read; reading stops after the item that reaches it
--       6 number of items to read at first
--       7 wake channel
--       8… run IDs to search for
-- Reply {number of items examined, 1: the list has no more, else 0, bytes of those items,
--        length of the longest, run IDs whose locks were found and freed…}

local ours, missing = {}, #ARGV - 7
for i = 8, #ARGV do ours[ARGV[2] .. ARGV[i]] = ARGV[i] end
local before, most, most_bytes = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local piece = tonumber(ARGV[6])
local reply = {0, 0, 0, 0}
local looked, bytes, longest = 0, 0, 0

local function free(names)
  for i = 1, #names do
    -- Reads only as much as is needed for the comparison: the lock of another program may be of any
    -- length and type.
    local found = redis.pcall('GETRANGE', names[i], 0, #ARGV[2] + 26)
    local run = type(found) == 'string' and ours[found]
    if run then
      redis.call('DEL', names[i])
      redis.pcall('ZREM', KEYS[2], run)
      reply[#reply + 1] = run
      missing = missing - 1
    end
  end
end

while looked < most and bytes < most_bytes and missing > 0 do
  local last = before + looked
  local count = math.min(piece, most - looked)
  local items = redis.call('LRANGE', KEYS[1], -(last + count), -(last + 1))
  local names = {}
  for i = #items, 1, -1 do
    names[#names + 1] = ARGV[1] .. items[i]
    bytes = bytes + #items[i]
    longest = math.max(longest, #items[i])
    if bytes >= most_bytes then break end
  end
  if #names > 0 then free(names) end
  looked = looked + #names
  if #items < count and #names == #items then
    reply[2] = 1
    break
  end
  piece = math.max(1, math.min(64, math.floor(262144 / (longest + 1))))
end
if #reply > 4 then redis.pcall('PUBLISH', ARGV[7], 'free') end
reply[1] = looked
reply[3] = bytes
reply[4] = longest
return reply
