-- Takes items of a circular list out of work until they are released.
--
-- KEYS  1 list  2… a lock for each item
-- ARGV  1 the new value of a lock
--       2… items
-- Reply for each item 1 done, 2 was in quarantine already, 3 runs: left alone, 0 not in the list

local reply = {}
for i = 2, #ARGV do
  local found = redis.pcall('GET', KEYS[i])
  local state = 3  -- also for a lock of a wrong type, which is whoever's
  if not found or (type(found) == 'string' and string.sub(found, 1, 5) == 'rest:') then
    state = redis.call('LPOS', KEYS[1], ARGV[i]) and 1 or 0
  elseif type(found) == 'string' and string.sub(found, 1, 11) == 'quarantine:' then
    state = 2
  end
  if state == 1 then redis.call('SET', KEYS[i], ARGV[1]) end
  reply[i - 1] = state
end
return reply
