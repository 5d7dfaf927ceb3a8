-- Sets a value of a feed's config, and tells so.
--
-- KEYS  1 config  2 feeds; none: it is in another slot, and was asked
-- ARGV  1 feed  2 name  3 value  4 who we are: a UUID
-- Reply 1

-- include parts/types.lua
-- include parts/feed_known.lua

local wrong = unusable(KEYS[2], ARGV[1], KEYS[1])
if wrong then return wrong end
redis.call('PUBLISH', 'conffeed', ARGV[1] .. '\0' .. ARGV[4])
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 1
