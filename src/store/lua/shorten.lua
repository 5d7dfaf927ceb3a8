-- Shortens delays that were set while the clock of Redis was ahead, in a part of a circular list.
--
-- KEYS  1 list
-- ARGV  1 index of the part's first item; below 0: it counts from the end
--       2 number of items of the part
--       3 maximum number of bytes to read; reading stops after the item that reaches it
--       4 number of fingerprints to return, of the last items
--       5 prefix of lock keys ("work:lock:")
--       6 how far the clock was set back, ms  7 maximum delay by the config, ms
--       8 maximum time from then to this call, ms  9 wake channel
-- Reply {index of the part's first item, number of items read, 1 if this is all of the part,
--        {fingerprint, …}; number of delays that were shortened}
-- A delay that was set while the clock was ahead is too long by the jump. The script recognizes it
-- by its remaining time: more than the jump minus ARGV 8, more than the maximum delay, and at most
-- the jump plus the maximum delay. Only an executor can have set a longer delay.
-- The result is no longer than the config permits, so another host that does the same changes
-- nothing.

-- include parts/list_part.lua
local items, first, is_whole =
  list_part(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
local jump, longest = tonumber(ARGV[6]), tonumber(ARGV[7])
local least = math.max(jump - ARGV[8], longest)
local fingerprints, shortened = {}, 0
for i = #items, 1, -1 do
  local item = items[i]
  local lock = ARGV[5] .. item
  local left = redis.call('PTTL', lock)
  if left > least and left <= jump + longest and redis.pcall('GETRANGE', lock, 0, 5) == 'delay:' then
    redis.call('PEXPIRE', lock, math.max(left - jump, 1))
    shortened = shortened + 1
  end
  if #fingerprints < tonumber(ARGV[4]) then
    fingerprints[#fingerprints + 1] = redis.sha1hex(item)
  end
end
if shortened > 0 then redis.call('PUBLISH', ARGV[9], 'free') end
return {first, #items, is_whole and 1 or 0, fingerprints, shortened}
