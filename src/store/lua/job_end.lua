-- Ends runs of jobs of one feed: claims, leases, places in the fleet, history and news, and what
-- becomes of each job, in one step.
--
-- KEYS  1 ids  2 items  3 claimed  4 cancelled  5 stalled  6 published  7 finishes  8 taken
--       9 slots  10 runs
-- ARGV  1 wake channel  2 events channel  3 channel of results
--       4 what stands before an id in the name of its lease ("feed.lease:F:")
--       5 how much of an id the history has
--       6 how many kinds of ends there are among them
--       7… for each kind, what its runs have in common:
--          what stands before a run id in the value of its lease ("run:<host>:<pid>:")
--          what becomes of the job, if the claim is still ours:
--             "finish"   it is done
--             "cancel"   to the back of its queue, and one failure is counted
--             "hold"     nothing yet: claim and lease stay, for "cancel" to come
--             "stall"    out of the running until somebody retries it
--             "requeue"  to the back of its queue, and nothing is counted
--             "back"     to the end of its queue that is taken from, and nothing is counted
--             "leave"    nothing: the lease runs out
--          "hold": for how long, ms
--          "1": this may have been carried out before (its answer was lost)
--          finished runs kept; 0: none
--          how many fields an entry of the history has besides run and item, and their names
--       then, for each run:
--          its kind, from 1; run id; the job's id; "finish": the result
--          message for the events channel; "": none
--          the fields of the history's entry
-- Reply {how many claims were ours, what Redis refused of all that is noted beside the jobs or ""}
-- A job that an operator wants stalled is, unless its run has finished it.

local ids, items, claimed, cancelled, stalled = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local published, finishes, feed_taken = KEYS[6], KEYS[7], KEYS[8]
local runs_key = KEYS[10]
-- include parts/types.lua
-- include parts/count_and_tell.lua
-- include parts/feed_job.lua
-- include parts/feed_time.lua
-- include parts/history.lua
-- include parts/job_claims.lua

local wrong = first_wrong(ids, 'list', items, 'hash', claimed, 'zset', cancelled, 'hash', stalled,
  'set', published, 'zset', finishes, 'string', feed_taken, 'hash')
if wrong then return wrong end

local kinds, at = {}, 7
for number = 1, tonumber(ARGV[6]) do
  local kind = {holder = ARGV[at], effect = ARGV[at + 1], hold_ms = ARGV[at + 2],
    again = ARGV[at + 3] == '1', history = ARGV[at + 4], count = tonumber(ARGV[at + 5]),
    fields = {}}
  -- Names, with places between them for the values.
  for i = 1, kind.count do kind.fields[2 * i - 1] = ARGV[at + 5 + i] end
  kinds[tostring(number)] = kind
  at = at + 6 + kind.count
end

local queued = false
local effects = {
  finish = function(job) finish(job.id, job.lease, ARGV[3], job.result) end,
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

local runs, run_ids, ours = {}, {}, 0
while at < #ARGV do
  local kind = kinds[ARGV[at]]
  local job = {at = at, kind = kind, run = ARGV[at + 1], id = ARGV[at + 2], result = ARGV[at + 3]}
  job.lease = ARGV[4] .. job.id
  local value = kind.holder .. job.run
  job.note = read_note(redis.call('HGET', feed_taken, job.id))
  local score = redis.call('ZSCORE', claimed, job.id)
  -- No more than tells whether it is ours: another's may be of any length, and of any type.
  local found = redis.pcall('GETRANGE', job.lease, 0, #value)
  if type(found) == 'table' and not string.find(found.err, 'WRONGTYPE') then return found end
  job.ours = score and found == value
  if job.note then job.ours = job.note.run == value and counts(job.note, score) end
  job.stalls = job.ours and job.note and job.note.mark == 'q' and kind.effect ~= 'finish'
  if job.ours then
    ours = ours + 1
    effects[job.stalls and 'stall' or kind.effect](job)
  else
    if job.note and job.note.run == value then redis.pcall('HDEL', feed_taken, job.id) end
    if found == value then redis.pcall('DEL', job.lease) end
  end
  runs[#runs + 1] = job
  run_ids[#run_ids + 1] = job.run
  at = at + 5 + kind.count
end

local entries = {}
for i, job in ipairs(runs) do
  local written = job.kind.history ~= '0'
  if not (job.kind.again and written and noted(job.run)) then
    if written then entries[#entries + 1] = job end
    local message = ARGV[job.at + 4]
    if message ~= '' then note(redis.pcall('PUBLISH', ARGV[2], message), 'PUBLISH') end
  end
end
local shown = tonumber(ARGV[5])
for i, job in ipairs(entries) do
  local fields, count = job.kind.fields, 2 * job.kind.count
  for j = 1, job.kind.count do fields[2 * j] = ARGV[job.at + 4 + j] end
  if job.stalls then
    fields[count + 1], fields[count + 2] = 'stalled', 'by an operator'
    count = count + 2
  end
  enter(job.run, job.id, shown, fields, count, i == #entries and job.kind.history)
end
local places = note(redis.pcall('ZREM', KEYS[9], unpack(run_ids)), 'ZREM')
places = type(places) == 'number' and places or 0
if queued or places > 0 then
  note(redis.pcall('PUBLISH', ARGV[1], queued and 'queued' or 'free'), 'PUBLISH')
end
return {ours, refused}
