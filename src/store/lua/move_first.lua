-- Moves an item to the left end of a circular list, where items are claimed, and ends its delay.
-- Its failures stay. Of several copies, the script moves the last one. All other items keep their
-- order.
--
-- KEYS  1 list  2 quarantined  3 lock of the item  4 the lock that it would have with the other
--         lock_key
-- ARGV  1 wake channel  2 the item
-- Reply 1 moved, 2 runs or is locked by another program, 3 quarantined, 0 not in the list

-- include parts/read_lock.lua
local list, item = KEYS[1], ARGV[2]
local delays = {}
for i = 3, 4 do
  local found = read(KEYS[i])
  if type(found) == 'table' and not string.find(found.err, 'WRONGTYPE') then return found end
  if type(found) == 'string' and string.sub(found, 1, 11) == 'quarantine:' then return 3 end
  if type(found) == 'string' and string.sub(found, 1, 6) == 'delay:' then
    delays[#delays + 1] = KEYS[i]
  elseif found then
    return 2
  end
end
if redis.call('HEXISTS', KEYS[2], item) == 1 then return 3 end
if not redis.call('LPOS', list, item) then return 0 end

-- Checks the permission before any change. With it, the command is refused because of the key's
-- type, or has no effect.
local may = redis.pcall('LREM', KEYS[2], 0, '')
if type(may) == 'table' and not string.find(may.err, 'WRONGTYPE') then return may end
-- No client can act on it before the script ends.
redis.call('PUBLISH', ARGV[1], 'free')
-- In this order, the item is never missing, even if Redis refuses one of the commands.
redis.call('LPUSH', list, item)
redis.call('LREM', list, -1, item)
if #delays > 0 then redis.call('DEL', unpack(delays)) end
return 1
