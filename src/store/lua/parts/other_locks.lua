-- Records which lock names are in use. While a changed lock_key is rolled out, hosts of one list
-- use both names, `lock` and `proc`. The keys `P:lock` and `P:proc` exist while the name is in use.
-- If the other name is in use, a host respects locks of both names. The key of the name that a
-- claim used last has no expiry. The other key expires, unless a host with that name claims or
-- renews.
-- Defined by the including script:
--   own_locks, other_locks  prefix of lock keys ("work:lock:") with this host's name, and with the
--                           other

local function mark_of(locks) return string.sub(locks, 1, -2) end
-- Returns whether a name is in use. A refusal counts as in use: then both names are respected.
local function in_use(locks) return redis.pcall('GET', mark_of(locks)) ~= false end

-- Records that a claim uses its name, before it sets any lock. `life_ms`: of a lock. An error of
-- Redis ends the claim: other hosts would not respect its locks.
local function use_own_name(life_ms)
  redis.call('SET', mark_of(own_locks), '1')
  if redis.pcall('PTTL', mark_of(other_locks)) == -1 then
    redis.pcall('PEXPIRE', mark_of(other_locks), math.max(60000, 2 * life_ms))
  end
end
