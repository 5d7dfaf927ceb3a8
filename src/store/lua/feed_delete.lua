-- Deletes a feed: all keys that one of any kind may have.
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

-- However long they are, Redis is not held up.
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
local ids = redis.pcall('ZRANGE', KEYS[7], 0, -1) -- no matter of what type it is: it goes
for first = 1, #ids, 1000 do
  local leases = {}
  for i = first, math.min(first + 999, #ids) do leases[#leases + 1] = ARGV[3] .. ids[i] end
  redis.pcall('DEL', unpack(leases))
end
local ours = string.sub(ARGV[4], 1, -#'taken' - 1)
redis.pcall('DEL', ARGV[4], ours .. 'nowhere', ours .. 'maintained')
delete(unpack(KEYS, 1, 10))
if feeds then redis.call('SREM', feeds, feed) end
return 1
