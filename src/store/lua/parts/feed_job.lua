-- What becomes of a claimed job, beside its claim. Before this stand the keys items, ids, published,
-- claimed, cancelled, stalled, and finishes, and feed_taken (ours: what our claims have noted).

-- The claim, and what we have noted of it; its lease goes with it.
local function unclaim(id, lease)
  redis.call('ZREM', claimed, id)
  redis.pcall('HDEL', feed_taken, id)
  redis.pcall('DEL', lease)
end

-- `channel`: where its result is told; nil: it has none. First, since that is what an ACL refuses
-- most likely: then nothing has happened.
local function finish(id, lease, channel, result)
  if channel then redis.call('PUBLISH', channel, id .. '\0' .. result) end
  unclaim(id, lease)
  redis.call('HDEL', cancelled, id)
  redis.call('INCR', finishes)
  redis.call('HDEL', items, id)
  redis.call('ZREM', published, id)
end

-- It goes to the back of its queue, and one failure is counted.
local function cancel(id, lease)
  redis.call('HINCRBY', cancelled, id, 1)
  redis.call('LPUSH', ids, id)
  unclaim(id, lease)
end

-- Out of the running until somebody retries it.
local function stall(id, lease)
  unclaim(id, lease)
  redis.call('HDEL', cancelled, id)
  redis.call('SADD', stalled, id)
  redis.call('ZREM', published, id)
end
