-- Takes items off a circular list, every copy of them, with what was noted about them. A run that
-- is going on keeps its lock, and finishes.
--
-- KEYS  1 list  2 failures  3 quarantined  4… two locks for each item: its own, and the one that it
--       would have with the other lock_key
-- ARGV  1 "free", "running", "resting" or "quarantined": only items that are that now; "": all
--       2… items
-- Reply for each item how many copies there were; -1: it is in another state, and stays

-- include parts/read_lock.lua

local function starts(found, with)
  return type(found) == 'string' and string.sub(found, 1, #with) == with
end

-- As w8yctl items says it.
local function state_of(item, lock)
  local runs = lock and not starts(lock, 'rest:') and not starts(lock, 'quarantine:')
  if runs then return 'running' end
  if starts(lock, 'quarantine:') or redis.pcall('HEXISTS', KEYS[3], item) == 1 then
    return 'quarantined'
  end
  return lock and 'resting' or 'free'
end

-- A rest or a quarantine would outlive its item, the latter for ever.
local locks, items, reply = {}, {}, {}
for i = 2, #ARGV do
  local found = {}
  for j = 2 * i, 2 * i + 1 do
    local lock = read(KEYS[j])
    if type(lock) == 'table' and not string.find(lock.err, 'WRONGTYPE') then return lock end
    found[#found + 1] = lock
  end
  if ARGV[1] ~= '' and state_of(ARGV[i], found[1]) ~= ARGV[1] then
    reply[i - 1] = -1
  else
    items[#items + 1] = ARGV[i]
    for j = 1, 2 do
      if starts(found[j], 'rest:') or starts(found[j], 'quarantine:') then
        locks[#locks + 1] = KEYS[2 * i + j - 1]
      end
    end
  end
end
if #items == 0 then return reply end

-- Refused because of the key's type, or without anything to do, unless this user may not do it at
-- all: before anything changes.
local may = redis.pcall('HDEL', KEYS[1], '')
if type(may) == 'table' and not string.find(may.err, 'WRONGTYPE') then return may end
if #locks > 0 then
  may = redis.pcall('LREM', locks[1], 0, '')
  if not string.find(may.err, 'WRONGTYPE') then return may end
  redis.call('DEL', unpack(locks))
end
for i = 2, #ARGV do
  reply[i - 1] = reply[i - 1] or redis.call('LREM', KEYS[1], 0, ARGV[i])
end
redis.pcall('HDEL', KEYS[2], unpack(items))
redis.pcall('HDEL', KEYS[3], unpack(items))
return reply
