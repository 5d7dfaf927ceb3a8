-- Ends claims of jobs that have no lease, each in one step: counts a failure with a reason, or hands
-- the job back.
--
-- KEYS  1 config  2 ids  3 items  4 published  5 claimed  6 cancelled  7 stalled
--       8 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 "fail"     to the back of the queue, and a failure is counted
--                 "requeue"  to the end of the queue from which jobs are claimed, uncounted
--       3 prefix of lease keys  4 records of w8y claims
--       5 failures after which a job is stalled; 0: never
--       6 limits of the history (parts/history.lua); "0": none
--       7 maximum bytes of an ID in the history  8 host  9 reason
--      10 history  11 events channel
--      12… for each job: id, run ID for its record
-- Reply for each 0 it is not claimed, 1 done, 2 stalled, or text: "run:<host>:<pid>:<run id>" of the
--       run that has a lease for the job, or the value of its lease.
--       The last element is the last error of Redis for the history and the events, or ""
-- The keys of w8y (ARGV 3, 4 and 10) are not declared, so that a user with permissions only for
-- Thoonk's keys can run this script.

local ids, items, published, claimed = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local cancelled, stalled, feed_taken, runs_key = KEYS[6], KEYS[7], ARGV[4], ARGV[10]
local finishes
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/feed_time.lua
-- include parts/count_and_publish.lua
-- include parts/feed_job.lua
-- include parts/feed_wake.lua
-- include parts/list_part.lua
local own = ''
-- include parts/history.lua
-- include parts/job_claims.lua
-- include parts/job_reruns.lua
-- include parts/json_bytes.lua

local wrong = unusable(KEYS[8], ARGV[1], KEYS[1], 'job')
  or first_wrong(ids, 'list', items, 'hash', published, 'zset', claimed, 'zset', cancelled, 'hash',
    stalled, 'set')
if wrong then return wrong end

-- Returns the holder of a live lease; nil: there is none.
local function holder_of(id, lease, score)
  local holder = redis.pcall('GET', lease)
  if type(holder) == 'string' then return string.sub(holder, 1, 256) end
  local found = redis.pcall('HGET', feed_taken, id)
  local claim = read_note(type(found) == 'string' and found or nil)
  if counts(claim, score) and claim.until_ms > now_ms then return string.sub(claim.run, 1, 256) end
end

local reply, queued = {}, false

local function record(id, run, score, failures, why_stalled)
  if ARGV[6] == '0' then return end
  local event = '{"type":"end",' .. json_bytes('list', ARGV[1]) .. ',' .. json_bytes('run', run) .. ','
    .. json_bytes('item', beginning(id, tonumber(ARGV[7])))
    .. (#id > tonumber(ARGV[7]) and ',"item_length":' .. #id or '') .. ','
    .. json_bytes('host', ARGV[8])
    .. string.format(',"time_ms":%.0f,"outcome":"failed",', now_ms) .. json_bytes('reason', ARGV[9])
    .. string.format(',"duration_ms":%.0f,"attempt":%d}', math.max(0, now_ms - in_ms(score)), failures)
  enter(event, why_stalled and ',' .. json_bytes('stalled', why_stalled) or '', ARGV[6])
  note(redis.pcall('PUBLISH', ARGV[11], event), 'PUBLISH')
end

local function fail(id, lease, run, score)
  local failures = (tonumber(redis.call('HGET', cancelled, id)) or 0) + 1
  local most = tonumber(ARGV[5])
  if most > 0 and failures >= most then
    local cause = (failures == 1 and '1 failure: ' or failures .. ' consecutive failures, the last: ')
      .. ARGV[9]
    stall(id, lease)
    write_cause(id, lease, run, function() return cause end)
    record(id, run, score, failures, cause)
    return 2
  end
  cancel(id, lease)
  queued = true
  record(id, run, score, failures)
  return 1
end

local function requeue(id, lease)
  redis.call('RPUSH', ids, id)
  unclaim(id, lease)
  queued = true
  return 1
end

for i = 12, #ARGV, 2 do
  local id, lease = ARGV[i], ARGV[3] .. ARGV[i]
  local score = redis.call('ZSCORE', claimed, id)
  local holder = score and holder_of(id, lease, score)
  local done = 0
  if holder then
    done = holder
  elseif score and redis.call('HEXISTS', items, id) == 0 then
    redis.call('HDEL', cancelled, id) -- it was retracted between the two steps of its claim
    unclaim(id, lease)
  elseif score then
    done = ARGV[2] == 'fail' and fail(id, lease, ARGV[i + 1], score) or requeue(id, lease)
    forget_reruns(id)
  end
  reply[#reply + 1] = done
end
write_history()
if queued then tell_waiting(ARGV[1]) end
reply[#reply + 1] = refused
return reply
