-- Settles runs of jobs of one feed in one step: claims, leases, fleet slots, history and events,
-- and the disposition of each job.
--
-- KEYS  1 ids  2 items  3 claimed  4 cancelled  5 stalled  6 published  7 finishes  8 claims
--       9 slots  10 runs
-- ARGV  1 wake channel  2 events channel  3 channel of results
--       4 prefix of lease keys ("feed.lease:F:")
--       5 number of kinds of settlements among them
--       6 limits of the breaker (parts/breaker_settle.lua); "": none
--       7… for each kind, the common values of its runs:
--          lease value without the run ID ("run:<host>:<pid>:")
--          disposition of the job, if this host still holds the claim:
--             "finish"   it is done
--             "cancel"   to the back of its queue, and a failure is counted
--             "hold"     none yet: claim and lease stay until "cancel" follows
--             "stall"    does not run until an operator retries it
--             "requeue"  to the back of its queue, and no failure is counted
--             "back"     to the end of its queue from which jobs are claimed, and no failure is
--                        counted
--             "leave"    none: the lease expires
--          "hold": duration, ms; "stall": the same, if the breaker prevents the stall; 0: none
--          "1": this call may have been executed before (its reply was lost)
--          limits of the history (parts/history.lua); "0": no run record
--          "stall": record to keep while the job is stalled, a JSON object; "": none
--          maximum bytes of a kept result
--          its entry in the breaker: "+" succeeded, "-" failed, "?" a stall of a run that is not
--          entered, "" none
--       then, for each run:
--          its kind, from 1; run ID; the job's ID; "finish": the result
--          message for the events channel, a JSON object; "": none
--          further members of the run record, each after a comma
-- Reply {number of claims that this host held, the last error of Redis for keys other than the
--       jobs, or "", number of jobs that their runs have stalled}
-- A job that an operator has requested to stall is stalled, unless it is finished. A job that was put
-- again during its run stays in the feed when it is finished: in its queue, or stalled.

local ids, items, claimed, cancelled, stalled = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local published, finishes, feed_taken = KEYS[6], KEYS[7], KEYS[8]
local runs_key = KEYS[10]
-- include parts/types.lua
-- include parts/count_and_publish.lua
-- include parts/feed_time.lua
-- include parts/feed_job.lua
-- include parts/list_part.lua
local own = ''
-- include parts/history.lua
-- include parts/job_claims.lua
-- include parts/job_reruns.lua
-- include parts/breaker_settle.lua

local kinds, at = {}, 7
for number = 1, tonumber(ARGV[5]) do
  kinds[tostring(number)] = {holder = ARGV[at], effect = ARGV[at + 1], hold_ms = ARGV[at + 2],
    again = ARGV[at + 3] == '1', history = ARGV[at + 4], record = ARGV[at + 5],
    max_result = tonumber(ARGV[at + 6]), breaker = ARGV[at + 7]}
  at = at + 8
end

local runs, run_ids, job_ids, only_finish, may_stall = {}, {}, {}, true, false
while at < #ARGV do
  local job = {kind = kinds[ARGV[at]], run = ARGV[at + 1], id = ARGV[at + 2], result = ARGV[at + 3],
    event = ARGV[at + 4], more = ARGV[at + 5]}
  job.lease, job.effect = ARGV[4] .. job.id, job.kind.effect
  job.max_result = job.kind.max_result
  only_finish = only_finish and job.effect == 'finish'
  may_stall = may_stall or job.effect == 'stall'
  runs[#runs + 1], run_ids[#run_ids + 1], job_ids[#job_ids + 1] = job, job.run, job.id
  at = at + 6
end

-- Most feeds have neither kept results nor jobs that were put again: one command checks both. EXISTS
-- counts a key each time that it is named.
local there = redis.pcall('EXISTS', keep_key, rerun_claims, rerun_claims)
if type(there) ~= 'number' then there = 3 end
local any_kept, entries = there % 2 == 1, {}
if there > 1 then
  entries = redis.pcall('HMGET', rerun_claims, unpack(job_ids))
  if entries.err and not string.find(entries.err, 'WRONGTYPE') then return entries end
end
-- Other keys show their type when they are read below.
local wrong = first_wrong(items, 'hash', cancelled, 'hash', published, 'zset')
  or not (only_finish and there < 2) and first_wrong(ids, 'list')
if wrong then return wrong end
local notes = redis.pcall('HMGET', feed_taken, unpack(job_ids))
local scores = redis.pcall('ZMSCORE', claimed, unpack(job_ids))
if notes.err or scores.err then
  return first_wrong(claimed, 'zset', feed_taken, 'hash') or (notes.err and notes or scores)
end

local queued = false
local effects = {
  cancel = function(job)
    cancel(job.id, job.lease)
    queued = true
  end,
  hold = function(job)
    if not job.note then return end
    local mark = string.format('r%.0f', now_ms + job.kind.hold_ms)
    redis.call('HSET', feed_taken, job.id,
      note_of_claim(job.note.score, job.note.until_ms, mark, job.note.run))
  end,
  stall = function(job) stall(job.id, job.lease) end,
  requeue = function(job)
    redis.call('LPUSH', ids, job.id)
    unclaim(job.id, job.lease)
    queued = true
  end,
  back = function(job)
    redis.call('RPUSH', ids, job.id)
    unclaim(job.id, job.lease)
    queued = true
  end,
  leave = function() end,
}

-- Removes the member `stalled`, the reason of the stall, from members of a run record.
local function without_stall(members)
  local first, last = string.find(members, ',"stalled":"', 1, true)
  while last do
    local at = string.find(members, '["\\]', last + 1)
    if not at then return members end
    if string.byte(members, at) == 34 then
      return string.sub(members, 1, first - 1) .. string.sub(members, at + 1)
    end
    last = at + 1
  end
  return members
end
-- Enters a run in the breaker, which may change the disposition of its job. While the breaker is
-- open, no job is claimed, so a failed job returns to its queue without a delay.
local function judge_by_breaker(job, value)
  if not breaker then read_breaker(ARGV[6]) end
  if not breaker then return end
  local stalls = job.effect == 'stall'
  local means = judge_run(job.kind.breaker, job.run, job.id, stalls, value, job.event)
  if not means then return end
  if means == 'open' then
    job.effect = 'requeue'
  else
    job.effect = job.kind.hold_ms == '0' and 'cancel' or 'hold'
  end
  if stalls then job.more = without_stall(job.more) end
end

local ours, done, staying, ended_reruns, stalls = 0, {}, {}, {}, 0
for i, job in ipairs(runs) do
  local value, score = job.kind.holder .. job.run, scores[i]
  job.note = read_note(notes[i])
  if job.note then
    job.ours = job.note.run == value and counts(job.note, score)
  end
  if not job.ours then
    -- Reads only as much as is needed for the comparison: the lease of another client may be of any
    -- length and type.
    local found = redis.pcall('GETRANGE', job.lease, 0, #value)
    if type(found) == 'table' and not string.find(found.err, 'WRONGTYPE') then return found end
    job.leased = found == value
    if not job.note then job.ours = score and job.leased end
  end
  if job.ours then
    ours = ours + 1
    job.stays = job.effect == 'finish' and is_rerun_of(entries[i], score)
      and redis.call('HEXISTS', items, job.id) == 1
    job.stalls = job.note and job.note.mark == 'q' and (job.effect ~= 'finish' or job.stays)
    may_stall = may_stall or job.stalls
    if entries[i] and job.effect ~= 'leave' then ended_reruns[#ended_reruns + 1] = job.id end
    if job.kind.breaker ~= '' then judge_by_breaker(job, value) end
  end
end
wrong = may_stall and first_wrong(stalled, 'set')
if wrong then return wrong end
-- Lets finished jobs stay in the feed, with the payloads of later puts.
local function stay()
  local back, publishes = {}, 'feed.publishes:' .. feed_name
  for _, job in ipairs(staying) do
    if job.stalls then
      redis.call('SADD', stalled, job.id)
    else
      redis.call('ZADD', published, now_ms, job.id)
      back[#back + 1] = job.id
    end
  end
  if #back > 0 then redis.call('LPUSH', ids, unpack(back)) end
  queued = queued or #back > 0
  note(redis.pcall('INCRBY', publishes, #staying), 'INCRBY')
end
for _, job in ipairs(runs) do
  if job.ours and job.effect == 'finish' then
    local list = job.stays and staying or done
    list[#list + 1] = job
  end
end
for _, job in ipairs(staying) do done[#done + 1] = job end
note(finish_all(done, ARGV[3], any_kept, staying, stay), 'kept result')
for _, job in ipairs(runs) do
  if not job.ours then
    if job.note and job.note.run == job.kind.holder .. job.run then
      redis.pcall('HDEL', feed_taken, job.id)
    end
    if job.leased then redis.pcall('DEL', job.lease) end
  elseif job.kind.effect ~= 'finish' then
    effects[job.stalls and 'stall' or job.effect](job)
  end
end
if #ended_reruns > 0 then forget_reruns(unpack(ended_reruns)) end

local function is_stalled(id) return redis.pcall('SISMEMBER', stalled, id) == 1 end
for _, job in ipairs(runs) do
  local written = job.kind.history ~= '0'
  if job.event ~= '' and not (job.kind.again and written and noted(job.run, job.kind.history)) then
    if written then
      enter(job.event, job.stalls and job.more .. ',"stalled":"by an operator"' or job.more,
        job.kind.history)
    end
    note(redis.pcall('PUBLISH', ARGV[2], job.event), 'PUBLISH')
  end
  if job.ours and (job.stalls or job.effect == 'stall') then
    write_cause(job.id, job.lease, job.run, function()
      if job.stalls then return 'by an operator' end
      local read, run = pcall(cjson.decode, '{"outcome":""' .. job.more .. '}')
      if read and run.stalled then return run.stalled end
      read, run = pcall(cjson.decode, job.event)
      return read and (run.reason or run.outcome) or ''
    end)
  end
  if job.ours and job.effect == 'stall' then
    stalls = stalls + 1
    keep_record(job.id, job.kind.record, job.event, is_stalled)
  end
end
write_history()
local function requeue(id)
  local pushed = type(note(redis.pcall('LPUSH', ids, id), 'LPUSH')) == 'number'
  queued = queued or pushed
  return pushed
end
write_breaker(ARGV[1], function(id)
  if redis.pcall('SISMEMBER', stalled, id) ~= 1 then return end
  if not requeue(id) then return end
  note(redis.pcall('SREM', stalled, id), 'SREM')
  note(redis.pcall('ZADD', published, now_ms, id), 'ZADD')
end, function(id)
  note(redis.pcall('HDEL', cancelled, id), 'HDEL')
  -- The end of the delay would count a failure, so a delayed job returns to its queue now.
  local found = redis.pcall('HGET', feed_taken, id)
  local held = read_note(type(found) == 'string' and found or nil)
  if held and string.sub(held.mark, 1, 1) == 'r'
    and counts(held, redis.pcall('ZSCORE', claimed, id)) then
    if requeue(id) then unclaim(id, ARGV[4] .. id) end
  end
end)
local places = note(redis.pcall('ZREM', KEYS[9], unpack(run_ids)), 'ZREM')
places = type(places) == 'number' and places or 0
if queued or places > 0 then
  note(redis.pcall('PUBLISH', ARGV[1], queued and 'queued' or 'free'), 'PUBLISH')
end
return {ours, refused, stalls}
