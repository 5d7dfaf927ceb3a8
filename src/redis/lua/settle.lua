-- Ends runs of one list: locks, failures, places in the fleet, history and news, in one step.
--
-- KEYS  1 failures  2 slots  3 runs  4 list  5… a lock each
-- ARGV  1 events channel  2 wake channel  3 how many kinds of ends there are among them
--       4… for each kind, what its runs have in common:
--          what stands before a run id in the value by which a lock is ours ("run:<host>:<pid>:")
--          what the lock becomes: "" free, else its new value
--          life of that, ms; 0: for good
--          failures in a row: "keep", "reset", "increment"
--          "1": this may have been carried out before (its answer was lost)
--          finished runs kept; 0: none
--          how many fields an entry of the history has besides run and item, and their names
--       then, for each lock:
--          its kind, from 1; item, run id
--          message for the events channel; "": none
--          the fields of the history's entry
-- Reply how many locks were ours
-- What Redis refuses, it refuses before anything is changed: an error means that nothing was done.

-- A lock of a wrong type is nil here, and is not ours.
local found = redis.call('MGET', unpack(KEYS, 5))
local kinds = {}
local at = 4
for number = 1, tonumber(ARGV[3]) do
  local kind = {holder = ARGV[at], becomes = ARGV[at + 1], life = ARGV[at + 2],
    failures = ARGV[at + 3], again = ARGV[at + 4] == '1', history = ARGV[at + 5],
    count = tonumber(ARGV[at + 6]), fields = {}}
  -- Names, with places between them for the values.
  for i = 1, kind.count do kind.fields[2 * i - 1] = ARGV[at + 6 + i] end
  kinds[tostring(number)] = kind
  at = at + 7 + kind.count
end

local runs, free, ids = {}, {}, {}
local ours = 0
for i = 1, #found do
  local kind, item, id = kinds[ARGV[at]], ARGV[at + 1], ARGV[at + 2]
  local run = {at = at, kind = kind, lock = KEYS[i + 4], item = item, becomes = kind.becomes,
    failures = kind.failures, ours = found[i] == kind.holder .. id}
  -- A lock that ran out while the item ran is free by now: the item rests all the same.
  run.counts = run.ours or (not found[i] and not kind.again)
  -- A quarantine has no end of its own: not for an item that was taken off the list meanwhile.
  if run.becomes ~= '' and kind.life == '0' and not redis.pcall('LPOS', KEYS[4], item) then
    run.becomes = ''
    run.failures = 'reset'
  end
  if run.ours then
    ours = ours + 1
    if run.becomes == '' then free[#free + 1] = run.lock end
  end
  runs[i] = run
  ids[i] = id
  at = at + 4 + kind.count
end

if #free > 0 then redis.call('DEL', unpack(free)) end
for _, run in ipairs(runs) do
  if run.becomes ~= '' and run.counts then
    local how = {'SET', run.lock, run.becomes}
    if not run.ours then how[#how + 1] = 'NX' end
    if run.kind.life ~= '0' then
      how[#how + 1] = 'PX'
      how[#how + 1] = run.kind.life
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
    reset[#reset + 1] = run.item
  elseif run.counts and run.failures == 'increment' then
    redis.pcall('HINCRBY', KEYS[1], run.item, 1)
  end
  local kept = run.kind.history ~= '0'
  if not (run.kind.again and kept and noted(ids[i])) then
    if kept then entries[#entries + 1] = i end
    local message = ARGV[run.at + 3]
    if message ~= '' then redis.pcall('PUBLISH', ARGV[1], message) end
  end
end
if #reset > 0 then redis.pcall('HDEL', KEYS[1], unpack(reset)) end
for i, entry in ipairs(entries) do
  local run, id = runs[entry], ids[entry]
  local fields, count = run.kind.fields, run.kind.count
  for j = 1, count do fields[2 * j] = ARGV[run.at + 3 + j] end
  if i < #entries then
    redis.pcall('XADD', KEYS[3], '*', 'run', id, 'item', run.item, unpack(fields, 1, 2 * count))
  else
    -- Trimmed to the number, but where it is so large that whole nodes of a stream don't matter.
    local most = run.kind.history
    local how = tonumber(most) > 10000 and '~' or '='
    redis.pcall('XADD', KEYS[3], 'MAXLEN', how, most, '*', 'run', id, 'item', run.item,
      unpack(fields, 1, 2 * count))
  end
end
local places = redis.pcall('ZREM', KEYS[2], unpack(ids))
if #free > 0 or (type(places) == 'number' and places > 0) then
  redis.pcall('PUBLISH', ARGV[2], 'free')
end
return ours
