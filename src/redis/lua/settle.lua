-- Ends a run: lock, failures, place in the fleet, history and news, in one step.
--
-- KEYS  1 lock  2 failures  3 slots  4 runs  5 list
-- ARGV  1 the value by which the lock is ours
--       2 what the lock becomes: "" free, else its new value
--       3 life of that, ms; 0: for good
--       4 failures in a row: "keep", "reset", "increment"
--       5 item  6 run id
--       7 "1": this may have been carried out before (its answer was lost)
--       8 finished runs kept; 0: none
--       9 events channel, 10 message ("": none)
--       11 wake channel
--       12… fields of the history's entry
-- Reply 1 the lock was ours, 2 it was gone, 0 it is another's

local found = redis.call('GET', KEYS[1])
local state = 0
if found == ARGV[1] then
  state = 1
elseif not found then
  state = 2
end
local again = ARGV[7] == '1'

-- A quarantine has no end of its own: not for an item that was taken off the list meanwhile.
if ARGV[2] ~= '' and ARGV[3] == '0' and not redis.pcall('LPOS', KEYS[5], ARGV[5]) then
  ARGV[2] = ''
  ARGV[4] = 'reset'
end

if state == 1 and ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
elseif ARGV[2] ~= '' and (state == 1 or (state == 2 and not again)) then
  -- A lock that ran out while the item ran is free by now: the item rests all the same.
  local how = {'SET', KEYS[1], ARGV[2]}
  if tonumber(ARGV[3]) > 0 then
    how[#how + 1] = 'PX'
    how[#how + 1] = ARGV[3]
  end
  redis.call(unpack(how))
end

-- Protected from here on: what is noted beside the lock must not keep it from being settled.
if state == 1 or (state == 2 and not again) then
  if ARGV[4] == 'reset' then
    redis.pcall('HDEL', KEYS[2], ARGV[5])
  elseif ARGV[4] == 'increment' then
    redis.pcall('HINCRBY', KEYS[2], ARGV[5], 1)
  end
end
local had_place = redis.pcall('ZREM', KEYS[3], ARGV[6])

local known = false
if again and tonumber(ARGV[8]) > 0 then
  for _, entry in ipairs(redis.call('XREVRANGE', KEYS[4], '+', '-', 'COUNT', 100)) do
    for i = 1, #entry[2], 2 do
      if entry[2][i] == 'run' and entry[2][i + 1] == ARGV[6] then known = true end
    end
  end
end
if not known then
  if tonumber(ARGV[8]) > 0 then
    -- Trimmed to the number, but where it is so large that whole nodes of a stream don't matter.
    local how = tonumber(ARGV[8]) > 10000 and '~' or '='
    redis.pcall('XADD', KEYS[4], 'MAXLEN', how, ARGV[8], '*', unpack(ARGV, 12))
  end
  if ARGV[10] ~= '' then redis.call('PUBLISH', ARGV[9], ARGV[10]) end
end
if (state == 1 and ARGV[2] == '') or had_place == 1 then redis.call('PUBLISH', ARGV[11], 'free') end
return state
