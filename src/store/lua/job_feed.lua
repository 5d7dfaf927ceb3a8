-- Creates the feed of a list of jobs, unless a feed of that name exists. For w8yd.
--
-- KEYS  1 config  2 feeds; none: it is in another hash slot, and the caller adds the name
-- ARGV  1 feed  2 ID of this client
-- Reply 1 created, 0 it exists
-- A feed without a name in `feeds` may have a type, such as after an interrupted deletion. It keeps
-- that type.

local config, feeds, told = KEYS[1], KEYS[2], ARGV[1] .. '\0' .. ARGV[2]
-- include parts/types.lua

local wrong = wrong_type(config, 'hash') or feeds and wrong_type(feeds, 'set')
if wrong then return wrong end
if feeds and redis.call('SISMEMBER', feeds, ARGV[1]) == 1 then return 0 end
local kind = redis.call('HGET', config, 'type')
if kind and kind ~= 'job' then return 0 end
if kind and not feeds then return 1 end
redis.call('PUBLISH', 'newfeed', told)
redis.call('PUBLISH', 'conffeed', told)
redis.call('HSET', config, 'type', 'job')
if feeds then redis.call('SADD', feeds, ARGV[1]) end
return 1
