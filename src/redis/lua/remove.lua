-- Takes items off a circular list, every copy of them, with what was noted about them. A run that
-- is going on keeps its lock, and finishes.
--
-- KEYS  1 list  2 failures  3 quarantined  4… two locks for each item: its own, and the one that it
--       would have with the other lock_key
-- ARGV  items
-- Reply for each item how many copies there were

-- A rest or a quarantine would outlive its item, the latter for ever.
local locks = {}
for i = 4, #KEYS do
  local found = redis.pcall('GET', KEYS[i])
  if type(found) == 'string' then
    if string.sub(found, 1, 5) == 'rest:' or string.sub(found, 1, 11) == 'quarantine:' then
      locks[#locks + 1] = KEYS[i]
    end
  elseif found and not string.find(found.err, 'WRONGTYPE') then
    return found
  end
end

-- Refused because of the key's type, or without anything to do, unless this user may not do it at
-- all: before anything changes.
local may = redis.pcall('HDEL', KEYS[1], '')
if type(may) == 'table' and not string.find(may.err, 'WRONGTYPE') then return may end
if #locks > 0 then
  may = redis.pcall('LREM', locks[1], 0, '')
  if not string.find(may.err, 'WRONGTYPE') then return may end
  redis.call('DEL', unpack(locks))
end
local reply = {}
for i = 1, #ARGV do reply[i] = redis.call('LREM', KEYS[1], 0, ARGV[i]) end
redis.pcall('HDEL', KEYS[2], unpack(ARGV))
redis.pcall('HDEL', KEYS[3], unpack(ARGV))
return reply
