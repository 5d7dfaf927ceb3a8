-- Puts items at the end of a circular list: each that is not in it yet.
--
-- KEYS  1 list
-- ARGV  1 "1": those that are in it already, too
--       2 wake channel
--       3… items
-- Reply for each item 1 added, 0 in the list already

local reply = {}
local added = 0
for i = 3, #ARGV do
  reply[i - 2] = 0
  if ARGV[1] == '1' or not redis.call('LPOS', KEYS[1], ARGV[i]) then
    redis.call('RPUSH', KEYS[1], ARGV[i])
    reply[i - 2] = 1
    added = added + 1
  end
end
if added > 0 then redis.call('PUBLISH', ARGV[2], 'added') end
return reply
