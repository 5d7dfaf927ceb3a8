-- Ends claims of jobs with different dispositions. Needs count_and_publish.lua, now_ms, and the keys
-- items, ids, published, claimed, cancelled, stalled, finishes, and feed_taken (records of w8y claims).

-- Kept results: the hash F:keep has the time in ms for each job that was put with keep_result. When
-- this job is finished or stalled, the hash feed.result:F:ID is written. It names its feed, because
-- the feeds "a" and "a:b" may share a key. Protected calls: an error must not prevent the
-- settlement of the job.
local key_prefix = string.sub(feed_taken, 1, -#'claims' - 1)
local keep_key = key_prefix .. 'keep'
local feed_name = string.sub(key_prefix, 1, -2)
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
-- of a job that no longer exists does no harm. `channel`: for its result; nil: none. `stays`: the job
-- returns to its queue, because it was put again (parts/job_reruns.lua).
local function finish(id, lease, channel, result, stays)
  redis.call('HDEL', cancelled, id)
  if stays then
    redis.call('ZADD', published, now_ms, id)
  else
    redis.call('ZREM', published, id)
  end
  if channel then
    count_and_tell(finishes, channel, id .. '\0' .. result)
  else
    redis.call('INCR', finishes)
  end
  if stays then
    redis.call('LPUSH', ids, id)
  else
    redis.call('HDEL', items, id)
  end
  unclaim(id, lease)
  local keep_ms = not stays and redis.pcall('HGET', keep_key, id)
  if type(keep_ms) ~= 'string' then return end
  redis.pcall('HDEL', keep_key, id)
  if channel then
    write_result(lease, keep_ms, 'finished', '', 'result', result)
  else
    write_result(lease, keep_ms, 'finished', '')
  end
end

-- Writes the kept results of the first `count` finished jobs. Returns the last error of Redis, or nil.
local function write_results(jobs, ids_of_jobs, count)
  local kept = redis.pcall('HMGET', keep_key, unpack(ids_of_jobs, 1, count))
  if kept.err then return kept end
  local refusal
  for i = 1, count do
    local job = jobs[i]
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

-- Finishes many jobs. Each has id, lease, run, result and max_result. `any_kept`: there may be jobs
-- whose result is kept. `staying`: jobs at the end of `jobs` that stay in the feed. `stay(staying)` is
-- called after all finishes are counted. Returns the last error of Redis for kept results, or nil.
local function finish_all(jobs, channel, any_kept, staying, stay)
  if #jobs == 0 then return end
  local told, done, leases, gone = {}, {}, {}, #jobs - #staying
  for i, job in ipairs(jobs) do
    told[2 * i - 1], told[2 * i] = channel, job.id .. '\0' .. job.result
    done[i], leases[i] = job.id, job.lease
  end
  redis.call('HDEL', cancelled, unpack(done))
  redis.call('ZREM', published, unpack(done))
  count_all_and_tell(finishes, #jobs, told)
  if #staying > 0 then stay(staying) end
  if gone > 0 then redis.call('HDEL', items, unpack(done, 1, gone)) end
  redis.call('ZREM', claimed, unpack(done))
  redis.pcall('HDEL', feed_taken, unpack(done))
  redis.pcall('DEL', unpack(leases))
  if any_kept and gone > 0 then return write_results(jobs, done, gone) end
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
