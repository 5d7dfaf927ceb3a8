-- Puts jobs into a feed. A job whose ID the feed has is not put, or runs again with a new payload.
--
-- KEYS  1 config  2 ids  3 items  4 publishes  5 published  6 claimed  7 cancelled  8 stalled
--       9 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 ID of this client: creates the feed if it does not exist; "": refuses it
--       3 keep: hash of jobs whose result is kept  4 prefix of kept results ("feed.result:F:")
--       5 to 7: the request (parts/request.lua)
--       8… for each job:
--          id, payload
--          "h": at the end from which jobs are claimed; "n": the ID is new; both: "hn"; with "r": if
--          the feed has the job, it runs again with this payload
--          time for which its result is kept, ms; "": not kept
-- Reply {status (parts/request.lua), a digit for each job, data}
--       1 added, 0 the feed has it; with "r": 2 queued or delayed, its payload is replaced,
--       3 claimed, its payload is replaced, and it runs again after its run, 4 stalled, not changed
-- The keys of w8y (ARGV 3 to 5) are not declared, so that a user with permissions only for Thoonk's
-- keys can put jobs whose results are not kept.

local ids, items, feeds, feed = KEYS[2], KEYS[3], KEYS[9], ARGV[1]
local request = {ARGV[5], ARGV[6], ARGV[7]}
local claimed, key_prefix = KEYS[6], string.sub(ARGV[3], 1, -#'keep' - 1)
local feed_taken = key_prefix .. 'claims'
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/feed_time.lua
-- include parts/feed_wake.lua
-- include parts/request.lua
-- include parts/job_claims.lua
-- include parts/job_reruns.lua

local wrong = feeds and wrong_type(feeds, 'set')
if wrong then return wrong end
local creates = ARGV[2] ~= '' and feeds and redis.call('SISMEMBER', feeds, feed) == 0
wrong = unusable(not creates and feeds or nil, feed, KEYS[1], 'job')
  or first_wrong(ids, 'list', items, 'hash', KEYS[4], 'string', KEYS[5], 'zset', KEYS[6], 'zset',
    KEYS[7], 'hash', KEYS[8], 'set')
if wrong then return wrong end
local before = recorded()
if before then return before end

-- Lets a job of the feed run again. Returns its digit of the reply, and the changes.
local function rerun(id, payload, keep_ms)
  if redis.call('SISMEMBER', KEYS[8], id) == 1 then return '4', {} end
  local score = redis.call('ZSCORE', claimed, id)
  local claim = score and read_note(redis.call('HGET', feed_taken, id))
  local keep = keep_ms ~= '' and {'HSET', ARGV[3], id, keep_ms} or {'HDEL', ARGV[3], id}
  local item = {'HSET', items, id, payload}
  if not score or counts(claim, score) and string.sub(claim.mark, 1, 1) == 'r' then
    return '2', {keep, item, {'HDEL', reruns, id}, {'HDEL', rerun_claims, id}}
  end
  local finished = redis.pcall('GET', 'feed.finishes:' .. feed)
  local entry = score .. ' ' .. (type(finished) == 'string' and finished or '0')
  return '3', {{'HSET', reruns, id, keep_ms .. ' ' .. payload}, {'HSET', rerun_claims, id, entry},
    keep, item}
end

-- Most calls add all jobs under new IDs. They need no table of results, and no command for each job.
local results, seen, changes = nil, {}, {}
local fields, times, first, last, keeps, named, old = {}, {}, {}, {}, {}, {}, {}
local new, high = {n = true, hn = true}, {h = true, hn = true, hr = true}
local added, firsts, lasts = 0, 0, 0
for i = 8, #ARGV, 4 do
  local id, how = ARGV[i], ARGV[i + 2]
  local adds = new[how]
  if not adds then
    adds = not seen[id] and redis.call('HEXISTS', items, id) == 0
    seen[id] = true
    if adds then named[#named + 1], old[#old + 1] = id, ARGV[4] .. id end
  end
  if adds then
    local at = 2 * added
    added = added + 1
    fields[at + 1], fields[at + 2] = id, ARGV[i + 1]
    times[at + 1], times[at + 2] = now_ms, id
    if high[how] then
      firsts = firsts + 1
      first[firsts] = id
    else
      lasts = lasts + 1
      last[lasts] = id
    end
    if ARGV[i + 3] ~= '' then keeps[#keeps + 1], keeps[#keeps + 2] = id, ARGV[i + 3] end
    if results then results[#results + 1] = '1' end
  else
    local result, more = '0', {}
    if string.find(how, 'r', 1, true) then
      wrong = first_wrong(reruns, 'hash', rerun_claims, 'hash')
      if wrong then return wrong end
      result, more = rerun(id, ARGV[i + 1], ARGV[i + 3])
    end
    for _, change in ipairs(more) do changes[#changes + 1] = change end
    results = results or {string.rep('1', added)}
    results[#results + 1] = result
  end
end
results = results and table.concat(results) or string.rep('1', added)
local reply = {'written', results, request[3]}
record(results)
if #fields + #changes == 0 then return reply end

local steps = {}
local function step(...) steps[#steps + 1] = {...} end
if creates then
  local told = feed .. '\0' .. ARGV[2]
  step('PUBLISH', 'newfeed', told)
  step('PUBLISH', 'conffeed', told)
  step('HSET', KEYS[1], 'type', 'job')
  step('SADD', feeds, feed)
end
if #keeps > 0 then step('HSET', ARGV[3], unpack(keeps)) end
if #named > 0 then
  -- Removes entries of a deleted job with this ID, which would prevent claims of the new job.
  step('ZREM', KEYS[6], unpack(named))
  step('HDEL', KEYS[7], unpack(named))
  step('SREM', KEYS[8], unpack(named))
  -- An ID that stays in the queue twice does no harm: the job has one claim. So a long queue is not
  -- searched for many IDs.
  if #named * redis.call('LLEN', ids) <= 1000000 or #named == 1 then
    for _, id in ipairs(named) do step('LREM', ids, 0, id) end
  end
  if #keeps < #fields then redis.pcall('HDEL', ARGV[3], unpack(named)) end
  forget_reruns(unpack(named))
  redis.pcall('DEL', unpack(old))
end
if #fields > 0 then
  step('INCRBY', KEYS[4], #fields / 2)
  step('ZADD', KEYS[5], unpack(times))
end
if #last > 0 then step('LPUSH', ids, unpack(last)) end
if #first > 0 then step('RPUSH', ids, unpack(first)) end
if #fields > 0 then step('HSET', items, unpack(fields)) end
for _, change in ipairs(changes) do steps[#steps + 1] = change end
for _, each in ipairs(steps) do
  local done = redis.pcall(unpack(each))
  if type(done) == 'table' and done.err then
    unrecord()
    return done
  end
end
if #fields > 0 then tell_waiting(feed) end
return reply
