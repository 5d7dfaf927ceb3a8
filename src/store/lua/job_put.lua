-- Puts jobs into a feed. A job whose ID the feed has is not put.
--
-- KEYS  1 config  2 ids  3 items  4 publishes  5 published  6 claimed  7 cancelled  8 stalled
--       9 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 ID of this client: creates the feed if it does not exist; "": refuses it
--       3 keep: hash of jobs whose result is kept  4 prefix of kept results ("feed.result:F:")
--       5 to 7: the request (parts/request.lua)
--       8… for each job:
--          id, payload
--          "h": at the end from which jobs are claimed; "n": the ID is new; both: "hn"
--          time for which its result is kept, ms; "": not kept
-- Reply {status (parts/request.lua), a digit for each job: 1 added, 0 the feed has it, data}
-- The keys of w8y (ARGV 3 to 5) are not declared, so that a user with permissions only for Thoonk's
-- keys can put jobs whose results are not kept.

local ids, items, feeds, feed = KEYS[2], KEYS[3], KEYS[9], ARGV[1]
local request = {ARGV[5], ARGV[6], ARGV[7]}
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/feed_time.lua
-- include parts/feed_wake.lua
-- include parts/request.lua

local wrong = feeds and wrong_type(feeds, 'set')
if wrong then return wrong end
local creates = ARGV[2] ~= '' and feeds and redis.call('SISMEMBER', feeds, feed) == 0
wrong = unusable(not creates and feeds or nil, feed, KEYS[1], 'job')
  or first_wrong(ids, 'list', items, 'hash', KEYS[4], 'string', KEYS[5], 'zset', KEYS[6], 'zset',
    KEYS[7], 'hash', KEYS[8], 'set')
if wrong then return wrong end
local before = recorded()
if before then return before end

-- Most calls add all jobs under new IDs. They need no table of results, and no command for each job.
local results, seen = nil, {}
local fields, times, first, last, keeps, named, old = {}, {}, {}, {}, {}, {}, {}
local new, high = {n = true, hn = true}, {h = true, hn = true}
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
    results = results or {string.rep('1', added)}
    results[#results + 1] = '0'
  end
end
results = results and table.concat(results) or string.rep('1', added)
local reply = {'written', results, request[3]}
record(results)
if #fields == 0 then return reply end

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
  redis.pcall('DEL', unpack(old))
end
step('INCRBY', KEYS[4], #fields / 2)
step('ZADD', KEYS[5], unpack(times))
if #last > 0 then step('LPUSH', ids, unpack(last)) end
if #first > 0 then step('RPUSH', ids, unpack(first)) end
step('HSET', items, unpack(fields))
for _, each in ipairs(steps) do
  local done = redis.pcall(unpack(each))
  if type(done) == 'table' and done.err then
    unrecord()
    return done
  end
end
tell_waiting(feed)
return reply
