-- Sets a value of a feed's config, and publishes the change.
--
-- KEYS  1 config  2 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 name  3 value  4 UUID of this client
-- Reply 1
-- If an ACL forbids the message, the value is restored.

-- include parts/types.lua
-- include parts/feed_check.lua

local wrong = unusable(KEYS[2], ARGV[1], KEYS[1])
if wrong then return wrong end
local before = redis.call('HGET', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
local told = redis.pcall('PUBLISH', 'conffeed', ARGV[1] .. '\0' .. ARGV[4])
if type(told) == 'table' then
  if before then redis.call('HSET', KEYS[1], ARGV[2], before)
  else redis.call('HDEL', KEYS[1], ARGV[2]) end
  return told
end
return 1
