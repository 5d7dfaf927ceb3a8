-- Deletes a feed: all keys that one of any kind may have, and the leases of the claims that were
-- made last. Those of older claims are left to feed_leases.lua, so that Redis is not held for long.
--
-- KEYS  1 config  2 ids  3 items  4 publishes  5 idincr  6 published  7 claimed  8 cancelled
--       9 stalled  10 finishes
--       11 feeds; none: it is in another slot, was asked, and is dealt with when this is done
-- ARGV  1 feed  2 who we are: a UUID  3 what stands before a job's id in the key of its lease
--       4 what our claims have noted
-- Reply 1
-- Ours (ARGV 3 and 4) are no declared keys: whoever may do only what the contract has may do this.

local feeds, feed = KEYS[11], ARGV[1]
-- include parts/types.lua
-- include parts/feed_known.lua

-- However long they are, Redis is not held up: it frees them beside its work.
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
local ids = redis.pcall('ZREVRANGE', KEYS[7], 0, 999) -- no matter of what type it is: it goes
for i, id in ipairs(ids) do ids[i] = ARGV[3] .. id end
if #ids > 0 then redis.pcall('DEL', unpack(ids)) end
local ours = string.sub(ARGV[4], 1, -#'claims' - 1)
redis.pcall('UNLINK', ARGV[4], ours .. 'orphaned', ours .. 'maintained')
delete(unpack(KEYS, 1, 10))
if feeds then redis.call('SREM', feeds, feed) end
return 1
