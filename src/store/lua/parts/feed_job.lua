-- Ends claims of jobs with different dispositions. Needs count_and_publish.lua, now_ms, and the keys
-- items, ids, published, claimed, cancelled, stalled, finishes, and feed_taken (records of w8y claims).

-- Kept results: the hash F:keep has the time in ms for each job that was put with keep_result. When
-- this job is finished or stalled, the hash feed.result:F:ID is written. It names its feed, because
-- the feeds "a" and "a:b" may share a key. Protected calls: an error must not prevent the
-- settlement of the job.
local keep_key = string.sub(feed_taken, 1, -#'claims' - 1) .. 'keep'
local feed_name = string.sub(feed_taken, 1, -#':claims' - 1)
local function result_key(lease) return 'feed.result:' .. string.sub(lease, #'feed.lease:' + 1) end
-- Returns the error of Redis, or nil. `...`: further fields and values.
local function write_result(lease, keep_ms, state, run, ...)
  local key = result_key(lease)
  redis.pcall('DEL', key)
  local done = redis.pcall('HSET', key, 'feed', feed_name, 'state', state, 'run', run, 'time_ms',
    string.format('%.0f', now_ms), ...)
  if type(done) == 'table' then return done end
  done = redis.pcall('PEXPIRE', key, keep_ms)
  if type(done) ~= 'table' then return end
  redis.pcall('DEL', key)
  return done
end
-- Writes why a job is stalled, if its result is kept. `cause`: returns the text.
local function write_cause(id, lease, run, cause)
  local keep_ms = redis.pcall('HGET', keep_key, id)
  if type(keep_ms) == 'string' then write_result(lease, keep_ms, 'stalled', run, 'reason', cause()) end
end
local function forget_result(id, lease)
  redis.pcall('HDEL', keep_key, id)
  redis.pcall('DEL', result_key(lease))
end

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
  local keep_ms = redis.pcall('HGET', keep_key, id)
  if type(keep_ms) ~= 'string' then return end
  redis.pcall('HDEL', keep_key, id)
  if channel then
    write_result(lease, keep_ms, 'finished', '', 'result', result)
  else
    write_result(lease, keep_ms, 'finished', '')
  end
end

-- Writes the kept results of finished jobs. Returns the last error of Redis, or nil.
local function write_results(jobs, ids_of_jobs)
  local are_kept = redis.pcall('EXISTS', keep_key)
  if are_kept == 0 then return end
  local kept = redis.pcall('HMGET', keep_key, unpack(ids_of_jobs))
  if kept.err then return kept end
  local refusal
  for i, job in ipairs(jobs) do
    if kept[i] then
      redis.pcall('HDEL', keep_key, job.id)
      local most = job.max_result or #job.result
      local error = write_result(job.lease, kept[i], 'finished', job.run, 'result',
        string.sub(job.result, 1, most), 'truncated', #job.result > most and 1 or 0)
      refusal = error or refusal
    end
  end
  return refusal
end

-- Finishes many jobs. Each has id, lease, run, result and max_result. Returns the last error of
-- Redis for kept results, or nil.
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
  return write_results(jobs, done)
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
