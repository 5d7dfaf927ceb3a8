-- Ends runs of one list: locks, failures, places in the fleet, history and news, in one step.
--
-- KEYS  1 failures  2 slots  3 runs  4 list  5… a lock each
-- ARGV  1 events channel  2 wake channel
--       3… for each lock:
--          the value by which it is ours
--          what it becomes: "" free, else its new value
--          life of that, ms; 0: for good
--          failures in a row: "keep", "reset", "increment"
--          item, run id
--          "1": this may have been carried out before (its answer was lost)
--          finished runs kept; 0: none
--          message for the events channel; "": none
--          how many fields of the history's entry follow, and those
-- Reply how many locks were ours
-- What Redis refuses, it refuses before anything is changed: an error means that nothing was done.

-- A lock of a wrong type is nil here, and is not ours.
local found = redis.call('MGET', unpack(KEYS, 5))
local runs, free, ids = {}, {}, {}
local ours = 0
local at = 3
for i = 1, #found do
  local item, again = ARGV[at + 4], ARGV[at + 6] == '1'
  local run = {at = at, lock = KEYS[i + 4], again = again, becomes = ARGV[at + 1],
    failures = ARGV[at + 3], ours = found[i] == ARGV[at]}
  -- A lock that ran out while the item ran is free by now: the item rests all the same.
  run.counts = run.ours or (not found[i] and not again)
  -- A quarantine has no end of its own: not for an item that was taken off the list meanwhile.
  if run.becomes ~= '' and ARGV[at + 2] == '0' and not redis.pcall('LPOS', KEYS[4], item) then
    run.becomes = ''
    run.failures = 'reset'
  end
  if run.ours then
    ours = ours + 1
    if run.becomes == '' then free[#free + 1] = run.lock end
  end
  runs[i] = run
  ids[i] = ARGV[at + 5]
  at = at + 10 + ARGV[at + 9]
end

if #free > 0 then redis.call('DEL', unpack(free)) end
for _, run in ipairs(runs) do
  if run.becomes ~= '' and run.counts then
    local how = {'SET', run.lock, run.becomes}
    if not run.ours then how[#how + 1] = 'NX' end
    if ARGV[run.at + 2] ~= '0' then
      how[#how + 1] = 'PX'
      how[#how + 1] = ARGV[run.at + 2]
    end
    redis.call(unpack(how))
  end
end

-- Protected from here on: what is noted beside the locks must not keep them from being settled.
local known
local function noted(id)
  if not known then
    known = {}
    for _, entry in ipairs(redis.pcall('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 100)) do
      for i = 1, #entry[2], 2 do
        if entry[2][i] == 'run' then known[entry[2][i + 1]] = true end
      end
    end
  end
  return known[id]
end

local reset, entries = {}, {}
for i, run in ipairs(runs) do
  if run.counts and run.failures == 'reset' then
    reset[#reset + 1] = ARGV[run.at + 4]
  elseif run.counts and run.failures == 'increment' then
    redis.pcall('HINCRBY', KEYS[1], ARGV[run.at + 4], 1)
  end
  local kept = ARGV[run.at + 7] ~= '0'
  if not (run.again and kept and noted(ids[i])) then
    if kept then entries[#entries + 1] = run.at end
    if ARGV[run.at + 8] ~= '' then redis.pcall('PUBLISH', ARGV[1], ARGV[run.at + 8]) end
  end
end
if #reset > 0 then redis.pcall('HDEL', KEYS[1], unpack(reset)) end
for i, entry in ipairs(entries) do
  local from, to = entry + 10, entry + 9 + ARGV[entry + 9]
  if i < #entries then
    redis.pcall('XADD', KEYS[3], '*', unpack(ARGV, from, to))
  else
    -- Trimmed to the number, but where it is so large that whole nodes of a stream don't matter.
    local most = ARGV[entry + 7]
    local how = tonumber(most) > 10000 and '~' or '='
    redis.pcall('XADD', KEYS[3], 'MAXLEN', how, most, '*', unpack(ARGV, from, to))
  end
end
local places = redis.pcall('ZREM', KEYS[2], unpack(ids))
if #free > 0 or (type(places) == 'number' and places > 0) then
  redis.pcall('PUBLISH', ARGV[2], 'free')
end
return ours
