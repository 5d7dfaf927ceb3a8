-- Jobs that were put again while they were claimed (job_put.lua). The hash F:reruns has the new
-- payload of each: "KEEP_MS PAYLOAD", without a time if its result is not kept. The record of a claim
-- by w8y then has the suffix "+" (parts/job_claims.lua), so that other settlements need no command.
-- Needs parts/feed_job.lua, parts/job_claims.lua, now_ms and the keys ids, published, claimed,
-- cancelled, finishes and feed_taken.
local reruns = string.sub(feed_taken, 1, -#'claims' - 1) .. 'reruns'
local items_key = 'feed.items:' .. feed_name

-- Returns the time for which its result is kept, or "", and the payload; nil: nothing waits.
local function read_rerun(id)
  local found = redis.pcall('HGET', reruns, id)
  if type(found) == 'string' then return string.match(found, '^(%d*) (.*)$') end
end
local function end_rerun(id, keep_ms)
  if keep_ms == '' then
    redis.pcall('HDEL', keep_key, id)
  else
    redis.pcall('HSET', keep_key, id, keep_ms)
  end
  redis.pcall('HDEL', reruns, id)
end

-- Gives a job its new payload, for its next attempt.
local function take_payload(id)
  local keep_ms, payload = read_rerun(id)
  if not payload then return end
  redis.call('HSET', items_key, id, payload)
  end_rerun(id, keep_ms)
end

-- Finishes the run of a job, which stays in the feed with its new payload. Returns false if nothing
-- waits. An error of Redis leaves the job claimed.
local function finish_and_put(id, lease, channel, result)
  local keep_ms, payload = read_rerun(id)
  if not payload then return false end
  redis.call('HSET', items_key, id, payload)
  redis.call('HDEL', cancelled, id)
  redis.call('ZADD', published, now_ms, id)
  redis.call('LPUSH', ids, id)
  count_and_tell(finishes, channel, id .. '\0' .. result)
  unclaim(id, lease)
  redis.pcall('INCR', 'feed.publishes:' .. feed_name)
  end_rerun(id, keep_ms)
  return true
end

-- Examines waiting payloads, at most 1,000: of finished jobs, of queued and stalled jobs, and of
-- claims that w8y has made since. Returns whether a job was queued. Waits while a claim has no lease.
local function put_reruns()
  local cursor, seen, bytes, any = '0', 0, 0, false
  repeat
    local page = redis.call('HSCAN', reruns, cursor, 'COUNT', 16)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      local id = page[2][i]
      local score = redis.call('ZSCORE', claimed, id)
      seen, bytes = seen + 1, bytes + #page[2][i + 1]
      if redis.call('HEXISTS', items_key, id) == 0 then
        redis.call('ZADD', published, now_ms, id)
        redis.call('LPUSH', ids, id)
        redis.pcall('INCR', 'feed.publishes:' .. feed_name)
        take_payload(id)
        any = true
      elseif not score then
        take_payload(id)
      else
        local note = read_note(redis.call('HGET', feed_taken, id))
        if counts(note, score) and not note.waits then
          redis.call('HSET', feed_taken, id,
            note_of_claim(note.score, note.until_ms, note.mark .. '+', note.run))
        end
      end
    end
  until cursor == '0' or seen >= 1000 or bytes >= 1048576
  return any
end
