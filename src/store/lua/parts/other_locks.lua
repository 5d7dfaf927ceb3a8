-- Hosts of a list may have two names for its locks, `lock` and `proc`, while a changed lock_key is rolled
-- out. The keys `P:lock` and `P:proc` say which names are in use. A host that finds the other name in
-- use respects locks of both names. The name that was used last has a key for good. The key of the
-- other expires, unless hosts that use this name claim or renew.
-- Before this stand
--   own_locks, other_locks  what stands before an item in the name of its lock, with either name

local function mark_of(locks) return string.sub(locks, 1, -2) end
local function in_use(locks) return redis.pcall('EXISTS', mark_of(locks)) == 1 end

-- To be called by a claim, before it locks anything. `life_ms`: of a lock. Where Redis refuses the key, it
-- refuses the claim: other hosts would not see the locks.
local function use_own_name(life_ms)
  redis.call('SET', mark_of(own_locks), '1')
  if redis.pcall('PTTL', mark_of(other_locks)) == -1 then
    redis.pcall('PEXPIRE', mark_of(other_locks), math.max(60000, 2 * life_ms))
  end
end
