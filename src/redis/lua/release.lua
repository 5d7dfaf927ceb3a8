-- Ends the rest or the quarantine of items, and forgets their failures. A run's lock is never
-- touched.
--
-- KEYS  1 list  2 failures  3… a lock for each item
-- ARGV  1 wake channel
--       2… items
-- Reply for each item 1 released, 2 was free already, 3 runs: left alone, 0 not in the list

local reply = {}
local released = 0
for i = 2, #ARGV do
  local found = redis.pcall('GET', KEYS[i + 1])
  local state = 3  -- also for a lock of a wrong type, which is whoever's
  if not found then
    state = redis.call('LPOS', KEYS[1], ARGV[i]) and 2 or 0
  elseif type(found) == 'string' and
      (string.sub(found, 1, 5) == 'rest:' or string.sub(found, 1, 11) == 'quarantine:') then
    redis.call('DEL', KEYS[i + 1])
    released = released + 1
    state = 1
  end
  if state ~= 3 then redis.pcall('HDEL', KEYS[2], ARGV[i]) end
  reply[i - 1] = state
end
if released > 0 then redis.call('PUBLISH', ARGV[1], 'free') end
return reply
