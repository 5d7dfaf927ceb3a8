-- Checks whether a claim is worthwhile, for many lists in which no item was free, in one call.
--
-- KEYS  a list each
-- ARGV  1 maximum number of bytes to read; reading stops after the item that reaches it
--       then for each list:
--       1 prefix of lock keys ("work:lock:")
--       2 its length at the last full scan
--       3 index of the first item to examine
--       4 number of items to examine
-- Reply for each list 1 if it has another length; 2 + n if an item is free that has n items to its
--       right; else 0, or the negative number of items examined; and last the number of bytes read

local reply, names, owners, places = {}, {}, {}, {}
local stop, bytes = tonumber(ARGV[1]), 0

-- The length of items is unknown before they are read, so fewer are read at once if they are long.
local function read(k, prefix, first, count)
  -- half of the remaining bytes, so that other lists are examined too
  local most = bytes + (stop - bytes) / 2
  local piece = 1
  while reply[k] > -count and bytes < most do
    local at = first - reply[k]
    local items = redis.call('LRANGE', KEYS[k], at, at + math.min(piece, count + reply[k]) - 1)
    if #items == 0 then return end
    local longest = 0
    for i = 1, #items do
      names[#names + 1] = prefix .. items[i]
      owners[#names] = k
      places[#names] = at + i
      bytes = bytes + #items[i]
      reply[k] = reply[k] - 1
      if #items[i] > longest then longest = #items[i] end
      if bytes >= most then break end
    end
    piece = math.max(1, math.min(256, math.floor(262144 / (longest + 1))))
  end
end

-- Starts at a different list each time.
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

-- Usually all are locked, which one command for up to 256 items shows.
for first = 1, #names, 256 do
  local last = math.min(first + 255, #names)
  if redis.call('EXISTS', unpack(names, first, last)) <= last - first then
    for i = first, last do
      if redis.call('EXISTS', names[i]) == 0 then
        local k = owners[i]
        reply[k] = 2 + math.max(ARGV[(k - 1) * 4 + 3] - places[i], 0)
      end
    end
  end
end
reply[#KEYS + 1] = bytes
return reply
