-- What becomes of a claimed job, beside its claim. Before this stand count_and_tell.lua, and the keys
-- items, ids, published, claimed, cancelled, stalled, and finishes, and feed_taken (ours: what our
-- claims have noted).

-- The claim, and what we have noted of it; its lease goes with it.
local function unclaim(id, lease)
  redis.call('ZREM', claimed, id)
  redis.pcall('HDEL', feed_taken, id)
  redis.pcall('DEL', lease)
end

-- What a right is missing for is refused before anybody is told, and while the job is claimed: else
-- it would be nowhere, and run again. The claim goes last: one of a job that is gone does no harm.
-- `channel`: where its result is told; nil: it has none.
local function finish(id, lease, channel, result)
  redis.call('HDEL', cancelled, id)
  redis.call('ZREM', published, id)
  if channel then
    count_and_tell(finishes, channel, id .. '\0' .. result)
  else
    redis.call('INCR', finishes)
  end
  redis.call('HDEL', items, id)
  unclaim(id, lease)
end

-- Many at once. Each has id, lease and result.
local function finish_all(jobs, channel)
  if #jobs == 0 then return end
  local told, done, leases = {}, {}, {}
  for i, job in ipairs(jobs) do
    told[2 * i - 1], told[2 * i] = channel, job.id .. '\0' .. job.result
    done[i], leases[i] = job.id, job.lease
  end
  redis.call('HDEL', cancelled, unpack(done))
  redis.call('ZREM', published, unpack(done))
  count_all_and_tell(finishes, #jobs, told)
  redis.call('HDEL', items, unpack(done))
  redis.call('ZREM', claimed, unpack(done))
  redis.pcall('HDEL', feed_taken, unpack(done))
  redis.pcall('DEL', unpack(leases))
end

-- It goes to the back of its queue, and one failure is counted.
local function cancel(id, lease)
  local counted = redis.pcall('HINCRBY', cancelled, id, 1)
  if type(counted) == 'table' then
    -- A count that is none must not keep the job, nor others, where they are.
    if string.find(counted.err, 'not an integer') then
      redis.call('HSET', cancelled, id, 1)
    else
      redis.call('HINCRBY', cancelled, id, 1)
    end
  end
  redis.call('LPUSH', ids, id)
  unclaim(id, lease)
end

-- Out of the running until somebody retries it. Where a right is missing for that, it stays claimed.
local function stall(id, lease)
  redis.call('HDEL', cancelled, id)
  redis.call('ZREM', published, id)
  redis.call('SADD', stalled, id)
  unclaim(id, lease)
end
