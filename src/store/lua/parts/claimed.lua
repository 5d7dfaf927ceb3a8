-- What is told of items that were claimed. Protected: they are claimed, and keys of a wrong type
-- must not keep them from being told.

-- Fencing tokens, the first of as many: each is the larger of the last one plus 1 and Redis's time
-- in µs, so they grow even if the key is lost; and larger than `seen`, the largest that the caller
-- has seen: after a failover, key and clock may be behind.
local function next_fence(key, count, now_us, seen)
  local fence = math.max((tonumber(redis.pcall('GET', key)) or 0) + 1, now_us, seen + 1)
  redis.pcall('SET', key, string.format('%.0f', fence + count - 1))
  return fence
end

-- Of each of these its failures in a row; and why they can't be known.
local function failures_in_a_row(key, items)
  local counts = {}
  -- Most have no failures, and many questions cost more than whether there is any answer.
  if #items <= 4 or redis.call('EXISTS', key) == 1 then
    counts = redis.pcall('HMGET', key, unpack(items))
  end
  local why = counts.err
  for i = 1, #items do
    local count = counts[i]
    -- What is no count is forgotten: it may be of any length, and is read once.
    if count and #count > 20 then redis.pcall('HDEL', key, items[i]) end
    counts[i] = count and #count <= 20 and tonumber(count) or 0
  end
  return counts, why
end

-- Of the few items whose visits are noted (measure.lua): when, and how long after the time before.
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

-- Places in the fleet, each with its own end, in its score; the key's end is only so that it has one.
local function take_places(key, runs, until_ms, life_ms)
  for i = 1, #runs do redis.pcall('ZADD', key, until_ms, runs[i]) end
  redis.pcall('PEXPIRE', key, math.max(86400000, 2 * life_ms))
end
