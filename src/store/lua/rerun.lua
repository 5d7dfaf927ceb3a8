-- Makes sure that a run of an item starts after this call. A running item gets a mark: the settlement
-- of its run frees it (parts/rerun_marks.lua). The delay of a delayed item ends, and its failures
-- stay. A free item is not changed.
--
-- KEYS  1 list  2 quarantined  3 reruns  4 lock of the item  5 the lock that it would have with the
--         other lock_key
-- ARGV  1 wake channel  2 the item
-- Reply 1 its delay has ended, 2 was free already, 3 runs, and is free after its run, 4 quarantined,
--       or will be at the end of its run, 0 not in the list

-- include parts/read_lock.lua
local item = ARGV[2]
local delays, running = {}, nil
for i = 4, 5 do
  local found = read(KEYS[i])
  if type(found) == 'table' and not string.find(found.err, 'WRONGTYPE') then return found end
  if type(found) == 'string' and string.sub(found, 1, 11) == 'quarantine:' then return 4 end
  if type(found) == 'string' and string.sub(found, 1, 6) == 'delay:' then
    delays[#delays + 1] = KEYS[i]
  elseif found then
    running = running or KEYS[i]
  end
end
if redis.call('HEXISTS', KEYS[2], item) == 1 then return 4 end
if not redis.call('LPOS', KEYS[1], item) then return 0 end

if running then
  -- The lock of another program may be of any length and type.
  local value = redis.pcall('GETRANGE', running, 0, 4095)
  redis.call('HSET', KEYS[3], item, type(value) == 'string' and value or '')
  return 3
end
if #delays == 0 then return 2 end
-- No client can act on it before the script ends.
redis.call('PUBLISH', ARGV[1], 'free')
redis.call('DEL', unpack(delays))
return 1
