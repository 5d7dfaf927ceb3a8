-- Ends claims of jobs with different dispositions. Needs count_and_publish.lua, and the keys items,
-- ids, published, claimed, cancelled, stalled, finishes, and feed_taken (records of w8y claims).

-- Deletes the claim, the record of it, and its lease.
local function unclaim(id, lease)
  redis.call('ZREM', claimed, id)
  redis.pcall('HDEL', feed_taken, id)
  redis.pcall('DEL', lease)
end

-- Finishes a job. A missing permission fails before any message is sent, and while the job is
-- claimed: otherwise it would be orphaned and run again. The claim is deleted last, because a claim
-- of a job that no longer exists does no harm. `channel`: for its result; nil: none.
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

-- Finishes many jobs. Each has id, lease and result.
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

-- Moves a job to the back of its queue and counts a failure.
local function cancel(id, lease)
  local counted = redis.pcall('HINCRBY', cancelled, id, 1)
  if type(counted) == 'table' then
    -- An invalid count must not block this job or others.
    if string.find(counted.err, 'not an integer') then
      redis.call('HSET', cancelled, id, 1)
    else
      redis.call('HINCRBY', cancelled, id, 1)
    end
  end
  redis.call('LPUSH', ids, id)
  unclaim(id, lease)
end

-- Stalls a job until an operator retries it. Without the permission, it stays claimed.
local function stall(id, lease)
  redis.call('HDEL', cancelled, id)
  redis.call('ZREM', published, id)
  redis.call('SADD', stalled, id)
  unclaim(id, lease)
end
