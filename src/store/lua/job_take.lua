-- Claims up to N jobs of a feed, in one step: popped and claimed together.
--
-- KEYS  1 config  2 paused  3 fence  4 slots  5 ids  6 items  7 claimed  8 cancelled  9 stalled
--       10 published  11 taken
-- ARGV  1 what stands before an id in the name of its lease ("feed.lease:F:")
--       2 what stands before a run id in the value of a lease ("run:<host>:<pid>:")
--       3 life of a lease, ms
--       4 runs at once in the whole fleet; 0: no limit
--       5 how many ids are looked at
--       6 the longest id, and the longest payload; what is longer is stalled
--       7 how many bytes of jobs may be taken; the job that comes to that is the last
--       8 how much is told of a long id, and of the reason of a pause
--       9 the largest fence that the caller has seen of this list
--      10… a run id for each job that is wanted
-- Reply {status, Redis's time in ms, ms until there may be work or -1, detail, what Redis refused
--        of what is noted beside the jobs or "", how many jobs were too long,
--        beginning and length of the id of each of those and length of its payload, …
--        id, fence, cancels so far, payload, …}
--       status: "ok"      as many as were wanted
--               "more"    call again: the bytes or the looks of this call are used up
--               "empty"   the feed has no more
--               "paused"  by an operator; detail is the reason
--               "full"    the fleet's limit is reached
-- An id leaves the queue when all else is written, so that what Redis refuses loses none. What is
-- no job (it was retracted), is claimed or is stalled leaves the queue without a run: a job has one
-- holder, whoever has put its id there twice. A lease without a claim is over: somebody has taken
-- the claim back.

local ids, items, claimed, taken = KEYS[5], KEYS[6], KEYS[7], KEYS[11]
local longest, told = tonumber(ARGV[6]), tonumber(ARGV[8])
-- include parts/types.lua
-- include parts/feed_known.lua
-- include parts/feed_time.lua
-- include parts/claimed.lua
-- include parts/job_claims.lua

local function nothing(status, ms, detail) return {status, now_ms, ms, detail, '', 0} end

local wrong = unusable(nil, nil, KEYS[1], 'job')
if wrong then return wrong end

-- What there is, from the taking end on. Whatever can't be read ends it before anything is changed.
local want, most_looked, most_bytes = #ARGV - 9, tonumber(ARGV[5]), tonumber(ARGV[7])
local limit, capped = tonumber(ARGV[4]), false
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

-- What is to be answered at once; nil: there may be something to take.
local function look()
  local pause_ends = redis.call('PTTL', KEYS[2])
  if pause_ends ~= -2 then
    return nothing('paused', pause_ends, redis.call('GETRANGE', KEYS[2], 0, told - 1))
  end
  if limit > 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now_ms)
    redis.call('ZADD', KEYS[4], 'XX', 0, '') -- who may take no place takes nothing
    local room = limit - redis.call('ZCARD', KEYS[4])
    if room <= 0 then
      local first = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
      return nothing('full', math.max(1, first[2] - now_ms), '')
    end
    if room < want then want, capped = room, true end
  end
  look_at_queue()
end

-- Types are asked for when something was refused: to say which key it is.
local function first_wrong_key()
  return first_wrong(KEYS[2], 'string', KEYS[4], 'zset', ids, 'list', items, 'hash', claimed, 'zset',
    KEYS[9], 'set', taken, 'hash')
end
local fine, answer = pcall(look)
if not fine then
  -- Refused again, from the beginning, and told as Redis tells it.
  jobs, too_long, seen, looked, bytes, ended = {}, {}, {}, 0, 0, false
  return first_wrong_key() or look()
end
if answer then return answer end
local payloads = #jobs > 0 and redis.call('HMGET', items, unpack(jobs))

-- All of it or an error, and then nothing. An ACL may refuse any of these.
local until_ms = now_ms + tonumber(ARGV[3])
local steps, notes, scores = {}, {}, {}
-- Numbers are made text once: that takes longer than to write them.
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
end
return reply
