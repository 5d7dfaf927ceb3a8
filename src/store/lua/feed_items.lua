-- Items by their ids, as many as fit in an answer.
--
-- KEYS  1 items
-- ARGV  1 how many bytes at most, but at least one item  2 the longest that can be told  3… ids
-- Reply for each of the first ids its item, nil: it is gone, or its length: it is too long

-- include parts/types.lua

local wrong = wrong_type(KEYS[1], 'hash')
if wrong then return wrong end
local reply, bytes = {}, 0
for i = 3, #ARGV do
  local length = redis.call('HSTRLEN', KEYS[1], ARGV[i])
  if length > tonumber(ARGV[2]) then
    reply[#reply + 1] = length
  else
    bytes = bytes + length
    if #reply > 0 and bytes > tonumber(ARGV[1]) then break end
    reply[#reply + 1] = redis.call('HGET', KEYS[1], ARGV[i])
  end
end
return reply
