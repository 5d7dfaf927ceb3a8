-- Settles runs of one list in one step: locks, failures, fleet slots, history and events.
--
-- KEYS  1 failures  2 slots  3 runs  4 quarantined  5… a lock each, and last waiting
-- ARGV  1 events channel  2 wake channel
--       3 prefix of lock keys ("work:lock:"): an item may be of any length, so it is sent once, in
--         the name of its lock
--       4 number of kinds of settlements among them
--       5 limits of the breaker (parts/breaker_settle.lua); "": none
--       6… for each kind, the common values of its runs:
--          lock value without the run ID ("run:<host>:<pid>:")
--          new value of the lock: "" free
--          its life, ms; 0: no expiry
--          entry in the index of quarantines, if it has no expiry
--          consecutive failures: "keep", "reset", "increment"; "unstarted": keep, since the claim is
--          handed back and its run has not started
--          "1": this call may have been executed before (its reply was lost)
--          "1": the lease had ended when this was sent
--          limits of the history (parts/history.lua); "0": no run record
--          record to keep while the quarantine lasts, a JSON object; "": none
--          "1": a renewal may have recorded the claim (renew.lua)
--          its entry in the breaker: "+" succeeded, "-" failed, "" none; then, if it has an entry in
--          the index of quarantines, the delay (ms) if the breaker prevents the quarantine
--       then, for each lock:
--          its kind, from 1; run ID
--          message for the events channel, a JSON object; "": none
--          further members of the run record, each after a comma
-- Reply {number of locks that this host held, the last error of Redis for keys other than the locks
--       or "", number of runs that have quarantined their item}
-- An error of a lock occurs before any change: an error reply means that nothing was changed.

local pcall, type = redis.pcall, type -- looked up once, not for every run
local runs_key = KEYS[3]
-- include parts/list_part.lua
local own = ''
-- include parts/history.lua
-- include parts/notify_next_waiter.lua
local reruns = key_prefix .. 'reruns' -- parts/rerun_marks.lua
-- include parts/breaker_settle.lua

local kinds = {}
local at = 6
for number = 1, tonumber(ARGV[4]) do
  local kind = {holder = ARGV[at], becomes = ARGV[at + 1], life = ARGV[at + 2], note = ARGV[at + 3],
    failures = ARGV[at + 4], again = ARGV[at + 5] == '1', stale = ARGV[at + 6] == '1',
    history = ARGV[at + 7], record = ARGV[at + 8],
    recorded = ARGV[at + 9] == '1', breaker = ARGV[at + 10]}
  kind.frees = kind.becomes == '' and not kind.stale
  kinds[number == 1 and '1' or tostring(number)] = kind -- tostring() of a number is slow in Redis
  at = at + 11
end
local first_at = at

-- Most lists have no quarantine, no fleet limit, no waiters, no failures and no marks of reruns: one
-- command checks all five. EXISTS counts a key each time that it is named: failures 4 times, and
-- marks 8 times.
local there = pcall('EXISTS', KEYS[4], KEYS[2], KEYS[#KEYS], KEYS[1], KEYS[1], KEYS[1], KEYS[1],
  reruns, reruns, reruns, reruns, reruns, reruns, reruns, reruns)
local unknown = type(there) ~= 'number'
local crowded = unknown or there % 4 ~= 0
local may_have_failures = unknown or there % 8 > 3
-- Items that an operator has quarantined during their run.
local indexed = crowded and pcall('HLEN', KEYS[4])
indexed = type(indexed) == 'number' and indexed > 0

local runs, free, kept, ids, recorded = {}, {}, {}, {}, {}
local ours, parked = 0, 0
local before_item = #ARGV[3] + 1
local function item_of(lock) return string.sub(lock, before_item) end
-- Returns the marks of the items, in the order of the locks, or an error.
local function read_marks()
  local items = {}
  for i = 5, #KEYS - 1 do items[i - 4] = item_of(KEYS[i]) end
  return pcall('HMGET', reruns, unpack(items))
end
local marks = (unknown or there > 7) and read_marks()
if marks and marks.err then
  if not string.find(marks.err, 'WRONGTYPE') then return marks end -- a mark must not be lost
  marks = false
end
local marked, unclaimed = {}, {} -- items whose marks are deleted, and fields of marks that become ""
local news = 'free\n' .. kinds['1'].holder
-- Decides about the mark of an item. Returns whether the item must run again after this settlement.
local function judge_mark(mark, kind, value, lock)
  local of_claim = string.sub(mark, 1, 8) == 'claimed:'
  if mark == value or of_claim and string.sub(mark, 9) == value then
    if kind.failures == 'unstarted' then
      unclaimed[#unclaimed + 1] = item_of(lock)
      unclaimed[#unclaimed + 1] = ''
    else
      marked[#marked + 1] = item_of(lock)
    end
    return not of_claim
  end
  return of_claim or mark == ''
end
-- Decides the new state of a lock that is not just freed. `mark`: whether the item must run again.
local function judge(kind, id, lock, is_ours, mark)
  local item = item_of(lock)
  local run = {lock = lock, item = item, becomes = kind.becomes, life = kind.life,
    failures = kind.failures}
  local ordered = indexed and redis.call('HEXISTS', KEYS[4], item) == 1
  -- After the lock was lost, another host may have run the item, and its result is kept, even if a
  -- late renewal has set the lock again.
  local counts = is_ours and not kind.stale
  if not counts then run.failures = 'keep' end
  if is_ours and ordered then
    run.becomes = 'quarantine:' .. id
    run.life = '0'
  elseif not counts then
    -- After a success, the item is delayed anyway if it is free.
    local free_for_us = is_ours or
      not (kind.again or ordered or redis.call('EXISTS', lock) == 1)
    if run.becomes ~= 'delay:cooldown' or not free_for_us then run.becomes = '' end
  end
  if mark and run.becomes ~= '' and run.life ~= '0' then
    run.becomes = ''
    if is_ours then news = 'free' end -- a wake-up of this host, too, which expects a delay
  end
  -- If the item was removed from its list during the run, sweep.lua deletes the quarantine. A
  -- search of the list here would take time in proportion to its length.
  run.parks = is_ours and run.becomes ~= '' and run.life == '0' and not ordered
  return run
end
-- Enters a run in the breaker, which may change its consequences. If the item must run again, the
-- breaker does not delay it: no item is claimed before the next probe anyway.
local function judge_by_breaker(kind, id, lock, run, message, mark)
  if not breaker then read_breaker(ARGV[5]) end
  if not breaker then return run end
  local verdict, delay = string.match(kind.breaker, '^([+-]?)(%d*)$')
  local means = judge_run(verdict, id, item_of(lock), run.parks, kind.holder .. id, message)
  if not means or kind.failures ~= 'increment' then return run end
  if run == kind then
    run = {lock = lock, item = item_of(lock), becomes = '', life = '0', failures = 'keep'}
  end
  local is_free = run.becomes == '' or string.sub(run.becomes, 1, 6) == 'delay:'
  if means == 'open' then run.failures = 'keep' end
  if run.parks or means == 'open' and is_free then
    run.becomes, run.parks = 'delay:backoff', false
    run.life = means == 'open' and string.format('%.0f', breaker.min_ms) or delay
    if mark or run.life == '0' then run.becomes = '' end
    if mark then news = 'free' end
  end
  return run
end
local size, last_byte
for i = 1, #KEYS - 5 do
  local kind, id, lock = kinds[ARGV[at]], ARGV[at + 1], KEYS[i + 4]
  local value = kind.holder .. id
  if #value ~= size then
    size = #value
    last_byte = size < 512 and '512' or tostring(size)
  end
  -- Reads only as much as is needed for the comparison: the lock of another program may be of any
  -- length and type.
  local found = pcall('GETRANGE', lock, '0', last_byte)
  local run = kind -- the most frequent case: held by this host, and freed
  local mark = marks and marks[i] and judge_mark(marks[i], kind, value, lock)
  if found ~= value or indexed or mark or not kind.frees then
    if type(found) == 'table' and not string.find(found.err, 'WRONGTYPE') then return found end
    run = judge(kind, id, lock, found == value, mark)
  end
  if kind.breaker ~= '' and found == value and not kind.stale then
    run = judge_by_breaker(kind, id, lock, run, ARGV[at + 2], mark)
  end
  if found == value then ours = ours + 1 end
  if kind.recorded then recorded[#recorded + 1] = value end
  if run.parks or kind.again and kind.becomes ~= '' and found == kind.becomes and kind.life == '0' then
    parked = parked + 1
  end
  if run.becomes ~= '' then
    kept[#kept + 1] = run
  elseif found == value then
    free[#free + 1] = lock
  end
  runs[i] = run
  ids[i] = id
  at = at + 4
end

-- The lock exists, so this changes nothing. If Redis refuses it, the following commands would fail
-- as well.
if #free > 0 and #kept > 0 then redis.call('SET', free[1], '', 'NX') end
if #free > 0 then redis.call('DEL', unpack(free)) end
for _, run in ipairs(kept) do
  local how = {'SET', run.lock, run.becomes}
  if run.life ~= '0' then
    how[#how + 1] = 'PX'
    how[#how + 1] = run.life
  end
  redis.call(unpack(how))
end
if #marked > 0 then note(pcall('HDEL', reruns, unpack(marked)), 'HDEL') end
if #unclaimed > 0 then note(pcall('HSET', reruns, unpack(unclaimed)), 'HSET') end
if #recorded > 0 then note(pcall('HDEL', key_prefix .. 'claims', unpack(recorded)), 'HDEL') end

local reset = {}
local function is_quarantined(item) return pcall('HEXISTS', KEYS[4], item) == 1 end
at = first_at
for i = 1, #runs do
  local run, kind = runs[i], kinds[ARGV[at]]
  if run.failures == 'reset' then
    reset[#reset + 1] = item_of(KEYS[i + 4])
  elseif run.failures == 'increment' then
    may_have_failures = true
    note(pcall('HINCRBY', KEYS[1], item_of(KEYS[i + 4]), 1), 'HINCRBY')
  end
  local message, written = ARGV[at + 2], kind.history ~= '0'
  if run.parks then
    note(pcall('HSET', KEYS[4], run.item, kind.note), 'HSET')
    keep_record(run.item, kind.record, message, is_quarantined)
  end
  if message ~= '' and not (kind.again and written and noted(ids[i], kind.history)) then
    if written then enter(message, ARGV[at + 3], kind.history) end
    note(pcall('PUBLISH', ARGV[1], message), 'PUBLISH')
  end
  at = at + 4
end
if #reset > 0 and may_have_failures then
  note(pcall('HDEL', KEYS[1], unpack(reset)), 'HDEL')
end
write_history()
if breaker then
  -- Ends the quarantine that a run has caused, under either name of locks.
  write_breaker(ARGV[2], function(item, id)
    local why = pcall('HMGET', KEYS[4], item)[1]
    if not why or not string.find(string.sub(why, 1, 4096), '"run":"' .. id .. '"', 1, true) then
      return
    end
    for _, name in ipairs({'lock:', 'proc:'}) do
      local lock, value = string.sub(ARGV[3], 1, -6) .. name .. item, 'quarantine:' .. id
      if pcall('GETRANGE', lock, 0, #value) == value then note(pcall('DEL', lock), 'DEL') end
    end
    note(pcall('HDEL', KEYS[4], item), 'HDEL')
  end, function(item) note(pcall('HDEL', KEYS[1], item), 'HDEL') end)
end

local places = crowded and pcall('EXISTS', KEYS[2]) ~= 0 and note(pcall('ZREM', KEYS[2], unpack(ids)), 'ZREM')
places = type(places) == 'number' and places or 0
if #free > 0 or places > 0 then
  -- The waiters that came first get a turn (claim.lua): as many as there are free items or slots.
  -- Other waiters are not notified.
  local notified, problem = 0, nil
  if crowded then
    notified, problem = call_from_line(KEYS[#KEYS], ARGV[2], math.max(#free, places), news)
    note(problem, 'PUBLISH')
  end
  if notified == 0 then note(pcall('PUBLISH', ARGV[2], news), 'PUBLISH') end
end
return {ours, refused, parked}
