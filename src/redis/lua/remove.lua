-- Takes items off a circular list, every copy of them, with what was noted about them. A run that
-- is going on keeps its lock, and finishes.
--
-- KEYS  1 list  2 failures  3… a lock for each item
-- ARGV  items
-- Reply for each item how many copies there were

local reply = {}
for i = 1, #ARGV do
  reply[i] = redis.call('LREM', KEYS[1], 0, ARGV[i])
  -- A quarantine has no end of its own: without this it would outlive its item.
  local found = redis.pcall('GET', KEYS[i + 2])
  if type(found) == 'string' and
      (string.sub(found, 1, 5) == 'rest:' or string.sub(found, 1, 11) == 'quarantine:') then
    redis.call('DEL', KEYS[i + 2])
  end
  redis.pcall('HDEL', KEYS[2], ARGV[i])
end
return reply
