-- Claims up to N jobs of a feed, in one step: they leave the queue and are claimed together.
--
-- KEYS  1 config  2 paused  3 fence  4 slots  5 ids  6 items  7 claimed  8 cancelled  9 stalled
--       10 published  11 claims  12 breaker; none: the list has no breaker
-- ARGV  1 prefix of lease keys ("feed.lease:F:")
--       2 lease value without the run ID ("run:<host>:<pid>:")
--       3 life of a lease, ms
--       4 maximum number of runs in the fleet; 0: no limit
--       5 maximum number of IDs to examine
--       6 maximum length of an ID, and of a payload; a longer one is stalled
--       7 maximum bytes of jobs to claim; the job that reaches it is the last
--       8 maximum length of a long ID, and of the reason of a pause, in the reply
--       9 the largest fencing token of this list that the caller has seen
--      10… a run ID for each wanted job
-- Reply {status, time of Redis in ms, ms until there may be jobs or -1, detail, error of Redis for
--       keys other than the jobs or "", number of jobs that were too long,
--        start and length of the ID of each of those and length of its payload, …
--        id, fencing token, cancels so far, payload, …}
--       status: "ok"      as many as were wanted
--               "more"    call again: the limits of this call are reached
--               "empty"   the feed has no more
--               "paused"  by an operator; detail is the reason
--               "full"    the fleet limit is reached
--               "breaker" the breaker is open; replaces all others except "more" and "paused";
--                         detail is the reason. With a job, its run is the probe
-- An ID leaves the queue after everything else is written, so that an error of Redis loses none. An
-- ID without a job (retracted), or of a job that is claimed or stalled, leaves the queue without a
-- run: a job has one holder, even if its ID is queued twice. A lease without a claim has no effect:
-- another client has recovered the claim.

local ids, items, claimed, taken, breaker = KEYS[5], KEYS[6], KEYS[7], KEYS[11], KEYS[12]
local longest, told = tonumber(ARGV[6]), tonumber(ARGV[8])
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/feed_time.lua
-- include parts/claim_results.lua
-- include parts/job_claims.lua
-- include parts/breaker_claim.lua

local function nothing(status, ms, detail) return {status, now_ms, ms, detail, '', 0} end

local wrong = unusable(nil, nil, KEYS[1], 'job')
if wrong then return wrong end

-- Jobs from the claiming end of the queue on. An error while reading ends the script before any
-- change.
local want, most_looked, most_bytes = #ARGV - 9, tonumber(ARGV[5]), tonumber(ARGV[7])
local limit, capped, why_open = tonumber(ARGV[4]), false, nil
local jobs, too_long, seen = {}, {}, {}
local looked, bytes, ended = 0, 0, false

local function next_ids()
  local found, places = {}, {}
  while #jobs + #found < want and looked < most_looked and bytes < most_bytes do
    local id = redis.call('LINDEX', ids, -1 - looked)
    if not id then
      ended = true
      break
    end
    looked = looked + 1
    bytes = bytes + #id
    if not seen[id] then
      seen[id] = true
      found[#found + 1], places[#places + 1] = id, looked
    end
  end
  return found, places
end

local function look_at_queue()
  local any_stalled = redis.call('EXISTS', KEYS[9]) == 1
  while #jobs < want and looked < most_looked and bytes < most_bytes and not ended do
    local found, places = next_ids()
    if #found == 0 then break end
    local holders = redis.call('ZMSCORE', claimed, unpack(found))
    for i, id in ipairs(found) do
      if not holders[i] and not (any_stalled and redis.call('SISMEMBER', KEYS[9], id) == 1) then
        local length = redis.call('HSTRLEN', items, id)
        if #id > longest or length > longest then
          too_long[#too_long + 1] = {id, length}
        elseif length > 0 or redis.call('HEXISTS', items, id) == 1 then
          jobs[#jobs + 1] = id
          bytes = bytes + length
        end
        if bytes >= most_bytes then
          looked, ended = places[i], false
          return
        end
      end
    end
  end
end

-- Returns an immediate reply; nil: there may be jobs to claim.
local function look()
  local pause_ends = redis.call('PTTL', KEYS[2])
  if pause_ends ~= -2 then
    return nothing('paused', pause_ends, redis.call('GETRANGE', KEYS[2], 0, told - 1))
  end
  local open = open_breaker()
  if open then
    local wait, why = probe_wait(open, now_ms)
    if wait > 0 then return nothing('breaker', wait, why) end
    want, why_open = math.min(want, 1), why
  end
  if limit > 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now_ms)
    redis.call('ZADD', KEYS[4], 'XX', 0, '') -- without permission for slots, nothing is claimed
    local room = limit - redis.call('ZCARD', KEYS[4])
    if room <= 0 then
      local first = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
      local ms = math.max(1, first[2] - now_ms)
      return nothing(open and 'breaker' or 'full', ms, why_open or '')
    end
    if room < want then want, capped = room, true end
  end
  look_at_queue()
end

-- Types are checked only after an error, to report the key.
local function first_wrong_key()
  return first_wrong(KEYS[2], 'string', KEYS[4], 'zset', ids, 'list', items, 'hash', claimed, 'zset',
    KEYS[9], 'set', taken, 'hash')
end
local fine, answer = pcall(look)
if not fine then
  -- Runs again from the start, so that Redis's error becomes the reply.
  jobs, too_long, seen, looked, bytes, ended = {}, {}, {}, 0, 0, false
  return first_wrong_key() or look()
end
if answer then return answer end
local payloads = #jobs > 0 and redis.call('HMGET', items, unpack(jobs))

-- Executes all steps, or undoes them after an error. An ACL may refuse any of them.
local until_ms = now_ms + tonumber(ARGV[3])
local steps, notes, scores = {}, {}, {}
-- Converts numbers to text once: that takes longer than writing them.
local score, begin = string.format('%.0f', now_ms), note_of_claim(now_ms, until_ms, 'n', ARGV[2])
for i, id in ipairs(jobs) do
  local run = ARGV[9 + i]
  steps[i] = {'SET', ARGV[1] .. id, ARGV[2] .. run, 'PX', ARGV[3]}
  notes[2 * i - 1], notes[2 * i] = id, begin .. run
  scores[2 * i - 1], scores[2 * i] = score, id
end
if #jobs > 0 then
  steps[#steps + 1] = {'HSET', taken, unpack(notes)}
  steps[#steps + 1] = {'ZADD', claimed, unpack(scores)}
end
for _, job in ipairs(too_long) do
  steps[#steps + 1] = {'SADD', KEYS[9], job[1]}
  steps[#steps + 1] = {'ZREM', KEYS[10], job[1]}
  steps[#steps + 1] = {'HDEL', KEYS[8], job[1]}
end
if looked > 0 then steps[#steps + 1] = {'RPOP', ids, looked} end
for _, step in ipairs(steps) do
  local answer = redis.pcall(unpack(step))
  if type(answer) == 'table' and answer.err then
    for _, id in ipairs(jobs) do
      redis.pcall('ZREM', claimed, id)
      redis.pcall('HDEL', taken, id)
      redis.pcall('DEL', ARGV[1] .. id)
    end
    for _, job in ipairs(too_long) do redis.pcall('SREM', KEYS[9], job[1]) end
    return first_wrong_key() or answer
  end
end

local reply = nothing('ok', -1, '')
if #jobs < want then
  reply[1] = ended and 'empty' or 'more'
elseif capped then
  reply[1] = 'full'
end
reply[6] = #too_long
for _, job in ipairs(too_long) do
  reply[#reply + 1] = string.sub(job[1], 1, told)
  reply[#reply + 1] = #job[1]
  reply[#reply + 1] = job[2]
end
if #jobs > 0 then
  local fence = next_fence(KEYS[3], #jobs, now_us, ARGV[9])
  local cancels, unknown = failures_in_a_row(KEYS[8], jobs)
  reply[5] = unknown or ''
  local runs = {}
  for i, id in ipairs(jobs) do
    reply[#reply + 1] = id
    reply[#reply + 1] = fence + i - 1
    reply[#reply + 1] = cancels[i]
    reply[#reply + 1] = payloads[i]
    runs[i] = ARGV[9 + i]
  end
  if limit > 0 then take_places(KEYS[4], runs, until_ms, ARGV[3]) end
  if why_open then
    begin_probe(ARGV[1] .. jobs[1], ARGV[2] .. runs[1])
    reply[3] = tonumber(ARGV[3])
  end
end
if why_open and reply[1] ~= 'more' then reply[1], reply[4] = 'breaker', why_open end
return reply
