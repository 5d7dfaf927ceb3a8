-- Creates a feed in one step: its config, its name in the set of names, and the messages to other
-- clients.
--
-- KEYS  1 config  2 feeds; none: it is in another hash slot, and has the name
-- ARGV  1 feed  2 kind  3 max_length; "": none  4 ID of this client
--       5 "1": keep the type of a feed that has one, for w8yd. After an interrupted deletion,
--         a feed may have a type and no name in `feeds`.
-- Reply 1 created, 0 a feed of that name exists, and nothing was changed
-- All scripts about feeds publish messages before they change anything: the messages are the part
-- that an ACL refuses most likely, and no client can act on them before the script ends.

local config, feeds, told = KEYS[1], KEYS[2], ARGV[1] .. '\0' .. ARGV[4]
-- include parts/types.lua

local wrong = wrong_type(config, 'hash') or feeds and wrong_type(feeds, 'set')
if wrong then return wrong end
if feeds and redis.call('SISMEMBER', feeds, ARGV[1]) == 1 then return 0 end
local kind = ARGV[5] and redis.call('HGET', config, 'type')
if kind and kind ~= ARGV[2] then return 0 end
if kind and not feeds then return 1 end
redis.call('PUBLISH', 'newfeed', told)
redis.call('PUBLISH', 'conffeed', told)
redis.call('HSET', config, 'type', ARGV[2])
if ARGV[3] ~= '' then redis.call('HSET', config, 'max_length', ARGV[3]) end
if feeds then redis.call('SADD', feeds, ARGV[1]) end
return 1
