-- Recovers jobs whose run has ended without a settlement: the lease has ended, and the key is
-- missing. They return to the end of their queues from which jobs are claimed. Examines a part of
-- the recorded claims in each call.
--
-- KEYS  1 claims  2 statuses  3 slots  4 timeline  5 runs
-- ARGV  1 prefix of queues  2 wake channel
--       3 limits of the history (parts/history.lua); "0": none
--       4 maximum bytes of a job in the history
--       5 the name of the list, if its key prefix is not its name; else ""
--       6 cursor, 0 at first  7 approximate number of records to examine
--       8… runs ("run:<host>:<pid>:<run id>") of in-doubt claims: their leases are treated as ended
-- Reply {cursor of the next call, 0 after the last,
--        ms until another of the examined leases may end or -1, number of recovered jobs,
--        the runs of ARGV that were found…}
-- A job is recovered only if its status is unchanged since the claim. Otherwise it was set or
-- unset, or Redbike has run it, and that result is kept, unless the job became due after that
-- during the run and could not be enqueued. The run gets a record. Jobs of another list with the
-- same key prefix are left to hosts of that list for one minute, since it has keys of its own. After
-- that, no host has the list, and the script recovers its jobs without a record.

local taken, statuses, timeline, runs_key, work = KEYS[1], KEYS[2], KEYS[4], KEYS[5], ARGV[1]
local own = ARGV[5] == '' and '' or ':' .. ARGV[5]
local time = redis.call('TIME')
local now_s = time[1]
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
-- include parts/types.lua
-- include parts/enqueue.lua
-- include parts/missed_due.lua
-- include parts/list_part.lua
-- include parts/history.lua
-- include parts/json_bytes.lua
-- include parts/interrupted.lua

local wrong = first_wrong(taken, 'hash', statuses, 'hash', timeline, 'zset')
if wrong then return wrong end
local lost = {}
for i = 8, #ARGV do lost[ARGV[i]] = true end

local page = redis.call('HSCAN', taken, ARGV[6], 'COUNT', ARGV[7])
local reply, next_ms = {page[1], -1, 0}, math.huge
local function over(job, entry)
  local key = work .. code_of(job) .. '-' .. job
  local is_own = (entry.list or '') == ARGV[5]
  local ends_ms = entry['until'] + (is_own and 0 or 60000)
  if lost[entry.run] then
    reply[#reply + 1] = entry.run
    if redis.pcall('GET', key) == entry.tag then redis.call('DEL', key) end
    redis.pcall('ZREM', KEYS[3], string.sub(entry.run, -26))
  elseif ends_ms > now_ms then
    next_ms = math.min(next_ms, ends_ms)
    return
  elseif redis.pcall('GET', key) == entry.tag then
    next_ms = math.min(next_ms, now_ms + math.max(redis.call('PTTL', key), 1))
    return
  end
  local is_lost = lost[entry.run]
  local status = redis.call('HGET', statuses, job)
  if status and (status == 'WRK:' .. tostring(entry.wrk) or has_missed(job, status)) then
    if no_queue(job) then return end
    if enqueue(job, true) then reply[3] = reply[3] + 1 end
  end
  redis.call('HDEL', taken, job)
  if ARGV[3] ~= '0' and is_own and not is_lost then
    enter_interrupted(entry.run, job, tonumber(ARGV[4]), nil, reason_of(entry.run), '', ARGV[3])
  end
end
for i = 1, #page[2], 2 do
  local job = page[2][i]
  local read, entry = pcall(cjson.decode, page[2][i + 1])
  if read and type(entry) == 'table' and type(entry.tag) == 'string'
    and type(entry.run) == 'string' and type(entry['until']) == 'number' then
    over(job, entry)
  else
    redis.call('HDEL', taken, job)
  end
end
if next_ms < math.huge then reply[2] = math.max(next_ms - now_ms, 1) end
write_history()
tell_queued(ARGV[2])
return reply
