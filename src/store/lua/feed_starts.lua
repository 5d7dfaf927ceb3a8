-- Returns the first bytes of items by their IDs, as many as Redis reads without delay for others.
--
-- KEYS  1 items
-- ARGV  1 bytes to read, but at least one item  2 maximum bytes of an item in the reply  3… ids
-- Reply for each of the first IDs: the first bytes, and the length; -1: it does not exist

-- include parts/types.lua

local wrong = wrong_type(KEYS[1], 'hash')
if wrong then return wrong end
local reply, bytes = {}, 0
for i = 3, #ARGV do
  local length = redis.call('HSTRLEN', KEYS[1], ARGV[i])
  bytes = bytes + length
  if #reply > 0 and bytes > tonumber(ARGV[1]) then break end
  local item = redis.call('HGET', KEYS[1], ARGV[i])
  reply[#reply + 1] = item and string.sub(item, 1, ARGV[2]) or ''
  reply[#reply + 1] = item and length or -1
end
return reply
