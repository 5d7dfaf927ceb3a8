-- Removes leases of claims that are no more: those of a feed that was deleted.
--
-- KEYS  1 claimed
-- ARGV  1 what stands before a job's id in the key of its lease  2… ids
-- Reply how many
-- A feed of that name may have been made since: what is claimed there is left alone. Leases are no
-- declared keys: whoever may do only what the contract has may do this.

local gone = 0
for i = 2, #ARGV do
  if not redis.pcall('ZSCORE', KEYS[1], ARGV[i]) then
    local removed = redis.pcall('DEL', ARGV[1] .. ARGV[i])
    if type(removed) == 'number' then gone = gone + removed end
  end
end
return gone
