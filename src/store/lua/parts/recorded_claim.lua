-- Claim of a run of a circular list that a renewal has recorded (renew.lua), in a hash by lock value:
-- "MISSING LENGTH ITEM": the time since which the lock is known to be missing, ms, or 0 if no call has
-- found it missing; the length of the item; the item or its start. If it has only the start, the lock
-- cannot be named: MISSING is then the end of the lease.
-- Needs now_ms.

-- Returns {missing_ms, whether it ended 9 s ago, length, item}; nil: the text has another form. A host
-- that has only lost its connection renews its leases within these 9 s.
local function read_claim(text)
  local missing_ms, length, item = string.match(text, '^(%d+) (%d+) (.*)$')
  if not missing_ms then return end
  missing_ms, length = tonumber(missing_ms), tonumber(length)
  return {missing_ms = missing_ms, ended = missing_ms < now_ms - 9000, length = length, item = item}
end

-- Returns whether the lock of the item still has the value of its run. `own_locks`, `other_locks`:
-- prefixes of lock keys, with either lock_key.
local function is_held(claim, run, own_locks, other_locks)
  if #claim.item < claim.length then return false end
  return redis.pcall('GETRANGE', own_locks .. claim.item, 0, #run) == run
    or redis.pcall('GETRANGE', other_locks .. claim.item, 0, #run) == run
end
