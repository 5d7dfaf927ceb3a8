-- Returns the states of items in one step, with truncated values.
--
-- KEYS  1 failures  2 quarantined  3… a lock each
-- ARGV  1 maximum length of a lock's value, and of an entry of the index of quarantines, in the
--         reply
--       2… the items
-- Reply for each item PTTL of its lock, the lock's value, consecutive failures, entry in the index
--       or nil

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
  -- Keys of a wrong type count as missing.
  add(redis.pcall('HMGET', KEYS[1], ARGV[i])[1] or false)
  add(redis.pcall('HMGET', KEYS[2], ARGV[i])[1] or false)
end
return reply
