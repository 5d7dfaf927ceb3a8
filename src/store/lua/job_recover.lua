-- Recovers claims whose lease has ended because the host has died. Examines a part of the records
-- of w8y claims in each call. A job that is recovered has failed once more: it moves to the back of
-- its queue, or is stalled. If its host has never renewed the lease, the job was not started: no
-- failure is counted, and it moves to the end of its queue from which jobs are claimed.
--
-- KEYS  1 ids  2 claimed  3 cancelled  4 stalled  5 published  6 claims  7 slots  8 runs
-- ARGV  1 prefix of lease keys ("feed.lease:F:")  2 wake channel
--       3 cancels after which a job is stalled; 0: never
--       4 limits of the history (parts/history.lua); "0": none
--       5 maximum bytes of an ID in the history
--       6 cursor, 0 at first  7 approximate number of records to examine
--       8… runs ("run:<host>:<pid>:<run id>") of in-doubt claims: they are undone without counting
--          a failure
-- Reply {cursor of the next call, 0 after the last,
--        ms until another of the examined leases may end or -1, number of recovered claims,
--        the runs of ARGV that were found…}

local ids, claimed, cancelled, stalled, published = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local feed_taken, runs_key = KEYS[6], KEYS[8]
local finishes
-- include parts/types.lua
-- include parts/count_and_publish.lua
-- include parts/feed_time.lua
-- include parts/feed_job.lua
-- include parts/list_part.lua
local own = ''
-- include parts/history.lua
-- include parts/job_claims.lua
-- include parts/job_reruns.lua
-- include parts/json_bytes.lua
-- include parts/interrupted.lua
-- include parts/job_recover_claims.lua

local wrong = first_wrong(ids, 'list', claimed, 'zset', cancelled, 'hash', stalled, 'set', published,
  'zset', feed_taken, 'hash')
if wrong then return wrong end
local lost = {}
for i = 8, #ARGV do lost[ARGV[i]] = true end

local page = redis.call('HSCAN', feed_taken, ARGV[6], 'COUNT', ARGV[7])
local reply, next_ms = {page[1], -1, 0}, math.huge
-- Called after all commands that Redis may refuse: a job that is still claimed keeps its slot.
local function free_place(run) redis.pcall('ZREM', KEYS[7], string.sub(run, -26)) end
local function undo(id, lease, run)
  redis.call('RPUSH', ids, id)
  unclaim(id, lease)
  forget_reruns(id)
  free_place(run)
  queued = true
end
local function look(id, noted_as)
  local lease = ARGV[1] .. id
  if not noted_as or not counts(noted_as, redis.call('ZSCORE', claimed, id)) then
    redis.call('HDEL', feed_taken, id)
  elseif lost[noted_as.run] then
    reply[#reply + 1] = noted_as.run
    undo(id, lease, noted_as.run)
  elseif noted_as.until_ms > now_ms then
    next_ms = math.min(next_ms, noted_as.until_ms)
  elseif redis.call('EXISTS', lease) == 1 then
    local life = redis.call('PTTL', lease)
    if life >= 0 then next_ms = math.min(next_ms, now_ms + math.max(life, 1)) end
  elseif noted_as.mark == 'n' then
    undo(id, lease, noted_as.run)
    reply[3] = reply[3] + 1
  else
    take_back(id, lease, ARGV[3], noted_as.run, reason_of(noted_as.run))
    free_place(noted_as.run)
    reply[3] = reply[3] + 1
  end
end
for i = 1, #page[2], 2 do look(page[2][i], read_note(page[2][i + 1])) end
if next_ms < math.huge then reply[2] = math.max(next_ms - now_ms, 1) end
tell_queued(ARGV[2])
return reply
