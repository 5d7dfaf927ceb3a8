-- Deletes a feed: all keys that a feed of any kind may have, and the leases of the most recent
-- claims. Leases of older claims are left to feed_leases.lua, so that Redis is not blocked for
-- long.
--
-- KEYS  1 config  2 ids  3 items  4 publishes  5 idincr  6 published  7 claimed  8 cancelled
--       9 stalled  10 finishes
--       11 feeds; none: it is in another hash slot, was checked, and is changed afterwards
-- ARGV  1 feed  2 UUID of this client  3 prefix of lease keys
--       4 records of w8y claims
-- Reply 1
-- The keys of w8y (ARGV 3 and 4) are not declared, so that a user with permissions only for
-- Thoonk's keys can run this script.

local feeds, feed = KEYS[11], ARGV[1]
-- include parts/types.lua
-- include parts/feed_check.lua

-- Deletes keys of any size without blocking Redis, which frees them in the background.
local function delete(...)
  local done = redis.pcall('UNLINK', ...)
  if type(done) == 'table' then redis.call('DEL', ...) end
end

if feeds then
  local wrong = wrong_type(feeds, 'set')
  if wrong then return wrong end
  if redis.call('SISMEMBER', feeds, feed) == 0 then return no_feed() end
  redis.call('PUBLISH', 'delfeed', feed .. '\0' .. ARGV[2])
end
local ids = redis.pcall('ZREVRANGE', KEYS[7], 0, 999) -- a key of any type is deleted
for i, id in ipairs(ids) do ids[i] = ARGV[3] .. id end
if #ids > 0 then redis.pcall('DEL', unpack(ids)) end
local ours = string.sub(ARGV[4], 1, -#'claims' - 1)
redis.pcall('UNLINK', ARGV[4], ours .. 'orphaned', ours .. 'maintained')
redis.pcall('UNLINK', ours .. 'kept-runs', ours .. 'keep', ours .. 'reruns', ours .. 'rerun-claims')
delete(unpack(KEYS, 1, 10))
if feeds then redis.call('SREM', feeds, feed) end
return 1
