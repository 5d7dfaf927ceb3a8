-- Returns a page of a list. Long items are truncated and have their states.
--
-- KEYS  1 list  2 failures  3 quarantined
-- ARGV  1 index of the first item; below 0: it counts from the end
--       2 maximum number of items
--       3 maximum number of bytes to read; reading stops after the item that reaches it
--       4 maximum length of an item in the reply: a longer one is a long item
--       5 maximum length of a lock's value, and of an entry of the index of quarantines, in the
--         reply
--       6 prefix of lock keys ("work:lock:"); "": no states of long items
-- Reply {index of the first item, {start of each item}, 1 if this is all of the part, and for each
--       long item: its index among these, length, digest, PTTL of its lock, the lock's value,
--       consecutive failures, entry in the index or nil}

-- include parts/list_part.lua
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

local items, first, is_whole =
  list_part(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
for i = 1, #items do
  local item = items[i]
  told_items[i] = item
  if #item > shown then
    told_items[i] = string.sub(item, 1, shown)
    describe(i, item)
  end
end
local all = {first, told_items, is_whole and 1 or 0}
for i = 1, #reply do all[3 + i] = reply[i] end
return all
