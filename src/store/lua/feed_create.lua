-- Makes a feed: its config, its name among all names, and what others are told of it. One step.
--
-- KEYS  1 config  2 feeds; none: it is in another slot, and has the name
-- ARGV  1 feed  2 kind  3 max_length; "": none  4 who we are: a UUID
-- Reply 1 made, 0 there is one of that name, and nothing was done
-- Here and in all scripts about feeds, messages are published before anything is changed: that is
-- what an ACL refuses most likely, and nobody can act on them before the script is over.

local config, feeds, told = KEYS[1], KEYS[2], ARGV[1] .. '\0' .. ARGV[4]
-- include parts/types.lua

local wrong = wrong_type(config, 'hash') or feeds and wrong_type(feeds, 'set')
if wrong then return wrong end
if feeds and redis.call('SISMEMBER', feeds, ARGV[1]) == 1 then return 0 end
redis.call('PUBLISH', 'newfeed', told)
redis.call('PUBLISH', 'conffeed', told)
redis.call('HSET', config, 'type', ARGV[2])
if ARGV[3] ~= '' then redis.call('HSET', config, 'max_length', ARGV[3]) end
if feeds then redis.call('SADD', feeds, ARGV[1]) end
return 1
