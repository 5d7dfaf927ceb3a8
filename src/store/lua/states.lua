-- What some items are doing, in one step; what is written of them is cut before it is a reply.
--
-- KEYS  1 failures  2 quarantined  3… a lock each
-- ARGV  1 how much is told of a lock's value, and of what the index of quarantines says
--       2… the items
-- Reply for each item PTTL of its lock, the lock's value, failures in a row, what the index says or
--       nil

local told = tonumber(ARGV[1])
local reply = {}
local function add(answer)
  if type(answer) == 'string' then answer = string.sub(answer, 1, told) end
  if type(answer) == 'table' then answer = false end -- a key of a wrong type
  reply[#reply + 1] = answer
end
for i = 2, #ARGV do
  add(redis.call('PTTL', KEYS[i + 1]))
  add(redis.pcall('GETRANGE', KEYS[i + 1], 0, told - 1))
  -- Of a key of a wrong type, nothing.
  add(redis.pcall('HMGET', KEYS[1], ARGV[i])[1] or false)
  add(redis.pcall('HMGET', KEYS[2], ARGV[i])[1] or false)
end
return reply
