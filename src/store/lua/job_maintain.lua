-- Executes one step of the maintenance of a feed of jobs. Each examines a part of the feed, so that
-- Redis is not blocked for long.
--
-- KEYS  1 config  2 ids  3 items  4 claimed  5 cancelled  6 stalled  7 published  8 claims  9 runs
--       10 orphaned: id → the pass in which it was orphaned  11 maintained: host of the pass
-- ARGV  1 prefix of lease keys ("feed.lease:F:")  2 wake channel
--       3 cancels after which a job is stalled; 0: never
--       4 limits of the history (parts/history.lua); "0": none
--       5 maximum bytes of an ID in the history
--       6 this host  7 time for which no other host starts a pass, ms
--       8 the step, and then
--       "begin"   9 "1": also if another host does a pass
--                 Reply {1, time of Redis in ms, numbers of jobs, queued, claimed, stalled,
--                 orphaned in the previous pass, published}
--                 or {0, ms until another host may start a pass, host of the pass}
--       "claims"  9 rank of the first  10 number  11 life of a claim without a lease, ms; 0: any
--                 Reply {rank of the next or -1, number of recovered claims, number of claims
--                 removed because their jobs do not exist}
--       "reruns"  9 cursor, 0 at first  10 approximate number of jobs that were put again
--                 Reply {cursor of the next call, bytes, 1 if it must be called again with this cursor}
--       "ids"     9 index of the first  10 number
--                 Reply {bytes, id, …}
--       "items"   9 cursor, 0 at first  10 approximate number
--                 Reply {cursor of the next call, bytes, IDs that are neither claimed nor stalled…}
--       "check"   9 this pass  10… IDs that were not found
--                 Reply {number queued again, number that will be if they are still orphaned then}
--       "sweep"   9 this pass  10 cursor, 0 at first
--                 Reply {cursor of the next call}
-- An orphaned ID returns to its queue if it was orphaned in the previous pass too: between the two
-- steps by which other clients claim a job, it is orphaned for a moment.
-- If another host has taken over, all steps except "begin" reply "over".

local ids, items, claimed, cancelled, stalled = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local published, feed_taken, runs_key, nowhere = KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local finishes
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/feed_time.lua
-- include parts/count_and_publish.lua
-- include parts/feed_job.lua
-- include parts/list_part.lua
local own = ''
-- include parts/history.lua
-- include parts/job_claims.lua
-- include parts/job_reruns.lua
-- include parts/json_bytes.lua
-- include parts/interrupted.lua
-- include parts/job_recover_claims.lua

local wrong = unusable(nil, nil, KEYS[1], 'job') or first_wrong(ids, 'list', items, 'hash', claimed,
  'zset', cancelled, 'hash', stalled, 'set', published, 'zset', feed_taken, 'hash', nowhere, 'hash',
  KEYS[11], 'string')
if wrong then return wrong end

local who, life = ARGV[6], ARGV[7]
if ARGV[8] == 'begin' then
  local other = redis.call('GET', KEYS[11])
  if other and other ~= who and ARGV[9] ~= '1' then
    return {0, math.max(redis.call('PTTL', KEYS[11]), 1), other}
  end
  redis.call('SET', KEYS[11], who, 'PX', life)
  return {1, now_ms, redis.call('HLEN', items), redis.call('LLEN', ids),
    redis.call('ZCARD', claimed), redis.call('SCARD', stalled), redis.call('HLEN', nowhere),
    redis.call('ZCARD', published)}
end
if redis.call('GET', KEYS[11]) ~= who then return 'over' end
redis.call('PEXPIRE', KEYS[11], life)

local function is_somewhere(id)
  return redis.call('ZSCORE', claimed, id) or redis.call('SISMEMBER', stalled, id) == 1
end
-- Searches the ends of the queue, to which the job may have moved since the queue was read.
local function is_at_an_end(id)
  return redis.call('LPOS', ids, id, 'MAXLEN', 10000)
    or redis.call('LPOS', ids, id, 'RANK', -1, 'MAXLEN', 10000)
end

local steps = {}
function steps.claims()
  local first, count, timeout = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
  local page = redis.call('ZRANGE', claimed, first, first + count - 1, 'WITHSCORES')
  local gone, back = 0, 0
  for i = 1, #page, 2 do
    local id, score = page[i], page[i + 1]
    local lease = ARGV[1] .. id
    if counts(read_note(redis.call('HGET', feed_taken, id)), score)
      or redis.call('EXISTS', lease) == 1 then
      score = false -- handled by job_recover.lua
    elseif redis.call('HEXISTS', items, id) == 0 then
      unclaim(id, lease) -- it was retracted between the two steps of its claim
      gone = gone + 1
    elseif timeout > 0 and in_ms(score) + timeout <= now_ms then
      take_back(id, lease, ARGV[3], nil, 'it was claimed for longer than claim_timeout')
      gone, back = gone + 1, back + 1
    end
  end
  tell_queued(ARGV[2])
  return {#page < 2 * count and -1 or first + count - gone, back, gone - back}
end
-- Puts a deleted job again if a job was finished since its put; otherwise, a client has retracted it.
-- Returns the length of its payload.
local function put_again(id, entry)
  local before = tonumber(string.match(entry, ' (%d+)$')) or -1
  if (tonumber(redis.pcall('GET', 'feed.finishes:' .. feed_name)) or 0) <= before then return 0 end
  local found = redis.pcall('HGET', reruns, id)
  local keep_ms, payload = string.match(type(found) == 'string' and found or '', '^(%d*) (.*)$')
  if not payload then return 0 end
  redis.call('HSET', items, id, payload)
  redis.call('ZADD', published, now_ms, id)
  redis.call('LPUSH', ids, id)
  redis.pcall('INCRBY', 'feed.publishes:' .. feed_name, 1)
  if keep_ms ~= '' then redis.pcall('HSET', keep_key, id, keep_ms) end
  queued = true
  return #payload
end
function steps.reruns()
  local page = redis.pcall('HSCAN', rerun_claims, ARGV[9], 'COUNT', ARGV[10])
  if page.err then return {'0', 0, 0} end -- a key of a wrong type is of another program
  local bytes, moved = 0, 0
  for i = 1, #page[2], 2 do
    local id, entry = page[2][i], page[2][i + 1]
    local score = redis.call('ZSCORE', claimed, id)
    local is_there = redis.call('HEXISTS', items, id) == 1
    bytes = bytes + #id + #entry
    -- The score of a claim that another client renews may change.
    local runs = score and (is_rerun_of(entry, score)
      or not counts(read_note(redis.call('HGET', feed_taken, id)), score))
    if not is_there and not score then
      if moved >= 1048576 then
        tell_queued(ARGV[2])
        return {ARGV[9], bytes + moved, 1}
      end
      moved = moved + put_again(id, entry)
    end
    if not runs then forget_reruns(id) end
  end
  -- Payloads whose entries were lost.
  if #page[2] == 0 and redis.call('EXISTS', rerun_claims) == 0 then redis.pcall('DEL', reruns) end
  tell_queued(ARGV[2])
  return {page[1], bytes + moved, 0}
end
function steps.ids()
  local first = tonumber(ARGV[9])
  local reply, bytes = {0}, 0
  for _, id in ipairs(redis.call('LRANGE', ids, first, first + ARGV[10] - 1)) do
    reply[#reply + 1] = id
    bytes = bytes + #id
  end
  reply[1] = bytes
  return reply
end
function steps.items()
  local page = redis.call('HSCAN', items, ARGV[9], 'COUNT', ARGV[10])
  local reply, bytes = {page[1], 0}, 0
  for i = 1, #page[2], 2 do
    local id = page[2][i]
    bytes = bytes + #id + #page[2][i + 1]
    if not is_somewhere(id) then reply[#reply + 1] = id end
  end
  reply[2] = bytes
  return reply
end
function steps.check()
  local back, noted_now = 0, 0
  for i = 10, #ARGV do
    local id = ARGV[i]
    if redis.call('HEXISTS', items, id) == 1 and not is_somewhere(id) and not is_at_an_end(id) then
      local before = redis.call('HGET', nowhere, id)
      if before and before ~= ARGV[9] then
        redis.call('LPUSH', ids, id)
        redis.call('HDEL', nowhere, id)
        back = back + 1
        queued = true
      else
        redis.call('HSET', nowhere, id, ARGV[9])
        noted_now = noted_now + 1
      end
    end
  end
  redis.call('PEXPIRE', nowhere, math.max(86400000, 2 * life))
  tell_queued(ARGV[2])
  return {back, noted_now}
end
function steps.sweep()
  local page = redis.call('HSCAN', nowhere, ARGV[10], 'COUNT', 256)
  for i = 1, #page[2], 2 do
    if page[2][i + 1] ~= ARGV[9] then redis.call('HDEL', nowhere, page[2][i]) end
  end
  return {page[1]}
end
return steps[ARGV[8]]()
