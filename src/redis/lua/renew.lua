-- Renews many locks of one prefix, each only if it is still ours.
--
-- KEYS  1 slots; without places in slots, any of the locks  2… a lock each
-- ARGV  1 life of a lock, ms
--       2 "1": the runs have places in slots
--       3… for each lock its value, which ends in the run id, with one letter before it:
--          "t": take the lock again if it is gone and free, "n": don't
-- Reply for each lock 1 renewed, 2 taken again, 3 gone, 0 another's

local time = redis.call('TIME')
local expiry_ms = tonumber(ARGV[1])
local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + expiry_ms
local reply = {}
for i = 2, #KEYS do
  local value = string.sub(ARGV[i + 1], 2)
  local found = redis.pcall('GET', KEYS[i])
  local state = 0
  if found == value then
    redis.call('PEXPIRE', KEYS[i], expiry_ms)
    state = 1
  elseif not found then
    state = 3
    if string.sub(ARGV[i + 1], 1, 1) == 't' and
        redis.call('SET', KEYS[i], value, 'PX', expiry_ms, 'NX') then
      state = 2
    end
  end
  if ARGV[2] == '1' and (state == 1 or state == 2) then
    redis.call('ZADD', KEYS[1], until_ms, string.sub(value, -26))
  end
  reply[#reply + 1] = state
end
if ARGV[2] == '1' then redis.pcall('PEXPIRE', KEYS[1], math.max(86400000, 2 * expiry_ms)) end
return reply
