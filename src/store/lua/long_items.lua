-- Does to long items of a list what is done to others by their names, where they stand: they are
-- not carried to whoever asks for it.
--
-- KEYS  1 list  2 failures  3 quarantined
-- ARGV  1 what stands before an item in the name of its lock ("work:lock:"), and 2 what would with
--         the other lock_key
--       3 "remove", "release" or "quarantine"
--       4 of which: a run id, or the states they are in (" resting quarantined ")
--       5 only items that are longer
--       6 where to begin: an index  7 how many items may be looked at
--       8 how many bytes of items may be read; the item that comes to that is the last
--       9 wake channel  10 quarantine: what the index says
-- Reply {how many items were looked at and are in the list still, 1: the list has no more, else 0;
--        for each item that was changed its beginning and its length, …}

local prefix, other, what, which = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local first, count, most_bytes = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local by_run = string.sub(which, 1, 1) ~= ' '
local reply = {0, 0}
local released = false

local function value_of(lock)
  local found = redis.pcall('GETRANGE', lock, 0, 1023)
  return type(found) == 'string' and found or '?' -- of a wrong type: somebody's
end
local function is_rest(value)
  return string.sub(value, 1, 5) == 'rest:' or string.sub(value, 1, 11) == 'quarantine:'
end
local function state_of(value, indexed)
  if string.sub(value, 1, 5) == 'rest:' and not indexed then return 'resting' end
  if is_rest(value) then return 'quarantined' end
  if value ~= '' then return 'running' end
  return indexed and 'quarantined' or 'free'
end

-- Whether it is gone from the list.
local function change(item)
  local lock = prefix .. item
  local value = value_of(lock)
  local indexed = redis.pcall('HEXISTS', KEYS[3], item) == 1
  local wanted
  if by_run then
    wanted = string.sub(value, -#which) == which
  else
    wanted = string.find(which, ' ' .. state_of(value, indexed) .. ' ', 1, true)
  end
  if not wanted then return false end
  reply[#reply + 1] = string.sub(item, 1, ARGV[5])
  reply[#reply + 1] = #item
  if what == 'quarantine' then
    redis.call('HSET', KEYS[3], item, ARGV[10])
    if value == '' or string.sub(value, 1, 5) == 'rest:' then
      redis.call('SET', lock, 'quarantine:manual')
    end
    return false
  end
  redis.pcall('HDEL', KEYS[2], item)
  redis.pcall('HDEL', KEYS[3], item)
  for _, name in ipairs({lock, other .. item}) do
    if is_rest(value_of(name)) then
      redis.call('DEL', name)
      released = true
    end
  end
  if what ~= 'remove' then return false end
  redis.call('LREM', KEYS[1], 0, item)
  return true
end

local looked, kept, bytes = 0, 0, 0
local piece = 1
while looked < count and bytes < most_bytes do
  local items = redis.call('LRANGE', KEYS[1], first + kept,
    first + kept + math.min(piece, count - looked) - 1)
  if #items == 0 then
    reply[2] = 1
    break
  end
  local longest = 0
  for i = 1, #items do
    looked = looked + 1
    bytes = bytes + #items[i]
    longest = math.max(longest, #items[i])
    local gone = #items[i] > tonumber(ARGV[5]) and change(items[i])
    -- Its copies may have stood anywhere: what was read is no longer where it was.
    if gone then break end
    kept = kept + 1
    if bytes >= most_bytes then break end
  end
  piece = math.max(1, math.min(64, math.floor(262144 / (longest + 1))))
end
if released and what == 'release' then redis.call('PUBLISH', ARGV[9], 'free') end
reply[1] = kept
return reply
