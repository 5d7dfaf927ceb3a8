-- Returns items by their IDs, as many as fit in a reply.
--
-- KEYS  1 items
-- ARGV  1 maximum bytes, but at least one item  2 maximum length of an item in the reply  3… ids
-- Reply for each of the first IDs its item; nil: it does not exist; or its length: it is too long

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
