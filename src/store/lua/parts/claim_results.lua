-- Records about claimed items. Protected calls: the items are claimed already, and keys of a wrong
-- type must not prevent the reply.

-- Returns the first of `count` fencing tokens. Each is the larger of the last one plus 1 and the
-- time of Redis in µs, so they grow even if the key is lost. They are also larger than `seen`, the
-- largest that the caller has seen, because key and clock may be outdated after a failover.
local function next_fence(key, count, now_us, seen, last)
  if last == nil then last = redis.pcall('GET', key) end
  local fence = math.max((tonumber(last) or 0) + 1, now_us, seen + 1)
  redis.pcall('SET', key, string.format('%.0f', fence + count - 1))
  return fence
end

-- Returns the consecutive failures of each item, and the error if they cannot be read.
local function failures_in_a_row(key, items)
  local counts = {}
  -- Most lists have no failures, and many fields cost more than one check for the key.
  if #items <= 4 or redis.call('EXISTS', key) == 1 then
    counts = redis.pcall('HMGET', key, unpack(items))
  end
  local why = counts.err
  for i = 1, #items do
    local count = counts[i]
    -- An invalid count is deleted: it may be of any length, and is read only once.
    if count and #count > 20 then redis.pcall('HDEL', key, items[i]) end
    counts[i] = count and #count <= 20 and tonumber(count) or 0
  end
  return counts, why
end

-- Records claims of the few items that are sampled (list_stats.lua): when, and how long after the
-- previous claim.
local function note_visits(key, items, now_ms)
  if #items > 4 and redis.call('EXISTS', key) == 0 then return end
  local notes = redis.pcall('HMGET', key, unpack(items))
  if notes.err then return end
  for i = 1, #items do
    local note = notes[i]
    if note and #note < 128 then
      local last = tonumber(string.match(note, '^%d+')) or 0
      local gap = last > 0 and math.max(1, now_ms - last) or 0
      redis.pcall('HSET', key, items[i], string.format('%.0f %.0f 0', now_ms, gap))
    end
  end
end

-- Acquires fleet slots. The score of each is the time at which it expires. The expiry of the key is
-- only for cleanup.
local function take_places(key, runs, until_ms, life_ms)
  for i = 1, #runs do redis.pcall('ZADD', key, until_ms, runs[i]) end
  redis.pcall('PEXPIRE', key, math.max(86400000, 2 * life_ms))
end
