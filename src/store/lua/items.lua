-- A page of a list, cut before it is a reply: of a long item its beginning, and what it is doing.
--
-- KEYS  1 list  2 failures  3 quarantined
-- ARGV  1 where to begin: an index
--       2 how many items at most
--       3 how many bytes of items may be read; the item that comes to that is the last
--       4 how much is told of an item: a longer one is a long item
--       5 how much is told of a lock's value, and of what the index of quarantines says
--       6 what stands before an item in the name of its lock ("work:lock:"); "": of long items only
--         where they stand and how long they are
-- Reply {how many items were looked at, {what is told of each}, and for each long one:
--        its place among these, length, digest, PTTL of its lock, the lock's value, failures in a
--        row, what the index says or nil}

local first, count, most_bytes = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local shown, told, prefix = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local told_items, reply = {}, {}

local function text(answer)
  if type(answer) == 'number' then return tostring(answer) end
  return type(answer) == 'string' and string.sub(answer, 1, told)
end

local function describe(place, item)
  local all = {place, #item, '', -2, '', '0', false}
  if prefix ~= '' then
    local lock = prefix .. item
    all[3] = redis.sha1hex(item)
    all[4] = redis.call('PTTL', lock)
    all[5] = text(redis.pcall('GETRANGE', lock, 0, told - 1)) or ''
    all[6] = text(redis.pcall('HMGET', KEYS[2], item)[1]) or '0'
    all[7] = text(redis.pcall('HMGET', KEYS[3], item)[1])
  end
  for i = 1, #all do reply[#reply + 1] = all[i] end
end

-- Items can't be measured before they are read, so few are read at once where they are long.
local looked, bytes, piece, longest = 0, 0, 1, 0
while looked < count and bytes < most_bytes do
  local at = first + looked
  local items = redis.call('LRANGE', KEYS[1], at, at + math.min(piece, count - looked) - 1)
  if #items == 0 then break end
  longest = math.floor(longest / 2)
  for i = 1, #items do
    local item = items[i]
    looked = looked + 1
    bytes = bytes + #item
    longest = math.max(longest, #item)
    told_items[looked] = item
    if #item > shown then
      told_items[looked] = string.sub(item, 1, shown)
      describe(looked, item)
    end
    if bytes >= most_bytes then break end
  end
  piece = math.max(1, math.min(64, math.floor(262144 / (longest + 1))))
end
local all = {looked, told_items}
for i = 1, #reply do all[2 + i] = reply[i] end
return all
