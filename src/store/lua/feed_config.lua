-- Sets a value of a feed's config, and tells so.
--
-- KEYS  1 config  2 feeds; none: it is in another slot, and was asked
-- ARGV  1 feed  2 name  3 value  4 who we are: a UUID
-- Reply 1
-- Where an ACL forbids to tell, the value is as it was.

-- include parts/types.lua
-- include parts/feed_known.lua

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
