-- Breaker of a list at a claim (parts/breaker_settle.lua has the key). While it is open, no item is
-- claimed before the next probe. Then one claim of the fleet gets one item. The lock of this run is
-- the lease of the probe: while it exists, no other claim probes.
-- Defined by the including script:
--   breaker  the key; nil: the list has no breaker

-- Returns {since, time of the next probe, "16 of 20", reason, lock of the probe, its value}; nil: the
-- breaker is closed.
local function open_breaker()
  local found = breaker
    and redis.call('HMGET', breaker, 'since', 'probe', 'failed', 'reason', 'lock', 'lease')
  return found and found[1] and found or nil
end

-- Returns the time until the next probe in ms; 0: this claim may probe. Second: why it is open.
local function probe_wait(open, now_ms)
  local why = (open[3] or '?') .. ' runs failed' .. (open[4] and ': ' .. open[4] or '')
  local wait = math.max(0, (tonumber(open[2]) or 0) - now_ms)
  if wait == 0 and open[5] and open[6]
    and redis.pcall('GETRANGE', open[5], 0, #open[6]) == open[6] then
    wait = math.max(1, redis.call('PTTL', open[5]))
  end
  return wait, why
end

-- Records that the claim of a run is the probe.
local function begin_probe(lock, lease) redis.pcall('HSET', breaker, 'lock', lock, 'lease', lease) end
