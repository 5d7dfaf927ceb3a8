-- A part of the index of quarantines, cut before it is a reply.
--
-- KEYS  1 quarantined
-- ARGV  1 where to go on: a cursor  2 about how many entries are looked at
--       3 items that are longer are left out  4 how much is told of each entry
-- Reply {the next cursor, an item, what is said of it, …}

local found = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local reply = {found[1]}
for i = 1, #found[2], 2 do
  if #found[2][i] <= tonumber(ARGV[3]) then
    reply[#reply + 1] = found[2][i]
    reply[#reply + 1] = string.sub(found[2][i + 1], 1, ARGV[4])
  end
end
return reply
