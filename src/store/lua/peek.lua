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

local reply, names, reads = {}, {}, {}
local stop, bytes, n = tonumber(ARGV[1]), 0, 0

-- The length of items is unknown before they are read, so fewer are read at once if they are long.
local function read(k, prefix, first, count)
  -- half of the remaining bytes, so that other lists are examined too
  local most = bytes + (stop - bytes) / 2
  local piece, seen = 1, 0
  while seen < count and bytes < most do
    local wanted = math.min(piece, count - seen)
    local items = redis.call('LRANGE', KEYS[k], first + seen, first + seen + wanted - 1)
    reads[#reads + 1] = {before = n, list = k, index = first + seen}
    local longest = 0
    for i = 1, #items do
      local item = items[i]
      local size = #item
      n = n + 1
      names[n] = prefix .. item
      bytes = bytes + size
      if size > longest then longest = size end
      if bytes >= most then break end
    end
    seen = n - reads[#reads].before + seen
    if #items < wanted then break end -- the end of the list
    piece = math.max(1, math.min(4 * wanted, 256, math.floor(262144 / (longest + 1))))
  end
  reply[k] = -seen
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

-- Records the free items. Usually all are locked, which one command for up to 256 items shows.
local function record_free(first, last)
  if redis.call('EXISTS', unpack(names, first, last)) > last - first then return end
  if first < last then
    local step = math.ceil((last - first + 1) / 16)
    for from = first, last, step do record_free(from, math.min(from + step - 1, last)) end
    return
  end
  local at = #reads
  while reads[at].before >= first do at = at - 1 end
  local k, index = reads[at].list, reads[at].index + first - reads[at].before - 1
  reply[k] = 2 + math.max(ARGV[(k - 1) * 4 + 3] - index - 1, 0)
end
for first = 1, n, 256 do record_free(first, math.min(first + 255, n)) end
reply[#KEYS + 1] = bytes
return reply
