-- Deletes leases of claims that no longer exist: those of a deleted feed.
--
-- KEYS  1 claimed
-- ARGV  1 prefix of lease keys  2… ids
-- Reply number of deleted leases
-- A feed of the same name may have been created since: its claims are kept. The leases are not
-- declared as keys, so that a user with permissions only for Thoonk's keys can run this script.

local gone = 0
for i = 2, #ARGV do
  if not redis.pcall('ZSCORE', KEYS[1], ARGV[i]) then
    local removed = redis.pcall('DEL', ARGV[1] .. ARGV[i])
    if type(removed) == 'number' then gone = gone + removed end
  end
end
return gone
