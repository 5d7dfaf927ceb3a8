-- Renews locks of one list, each only if this host still holds it.
--
-- KEYS  1 slots; if the runs hold no slots, any of the locks  2… a lock each
-- ARGV  1 life of a lock, ms
--       2 "1": the runs hold slots
--       3 time until which missing locks are set again, ms by the Redis clock; 0: never
--       4 prefix of lock keys ("work:lock:")  5 the same with the other lock_key
--       6 maximum bytes of an item in the record of a run that is interrupted (recover.lua)
--       7… for each lock its value, which ends with the run ID
--       then for each lock "1" if the call records its claim, otherwise "0"; empty: it records none
-- Reply {ms by the Redis clock; for each lock 1 renewed, 2 set again, 3 missing, 0 of another
--       holder, 4 refused}
-- A call may arrive after its leases have ended. Another host may have run the item meanwhile, and
-- must keep it: hence the time in ARGV 3.
-- A key of a wrong type, or one error, does not prevent the renewal of other locks. If no lock
-- could be renewed, the error is the reply.

local own_locks, other_locks = ARGV[4], ARGV[5]
-- include parts/other_locks.lua
local time = redis.call('TIME')
local expiry_ms = tonumber(ARGV[1])
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local until_ms = now_ms + expiry_ms
local retakes = now_ms < tonumber(ARGV[3])
local refusal
local renewed = 0
local function try(...)
  local answer = redis.pcall(...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  -- A wrong type: a lock of another program.
  if string.find(answer.err, 'WRONGTYPE') then return {} end
  refusal = answer
end

local two_names = in_use(other_locks)
if two_names then
  local mark, life_ms = mark_of(own_locks), math.max(60000, 2 * expiry_ms)
  if not redis.pcall('SET', mark, '1', 'PX', life_ms, 'NX') and redis.pcall('PTTL', mark) ~= -1 then
    redis.pcall('PEXPIRE', mark, life_ms)
  end
end
local function held_by_other(lock)
  return redis.pcall('EXISTS', other_locks .. string.sub(lock, #own_locks + 1)) ~= 0
end

local reply = {now_ms}
local runs = {} -- fields and values of the recorded claims
local most_bytes, recorded = tonumber(ARGV[6]), ARGV[#KEYS + 6]
local records = recorded ~= ''
for i = 2, #KEYS do
  local value = ARGV[i + 5]
  -- Reads only as much as is needed for the comparison: the lock of another program may be of any
  -- length.
  local found = try('GETRANGE', KEYS[i], 0, #value)
  if found == '' then
    local there = try('EXISTS', KEYS[i])
    found = there ~= 0 and (there and found)
  end
  local state = 0
  if found == nil then
    state = 4
  elseif found == value then
    state = try('PEXPIRE', KEYS[i], expiry_ms) and 1 or 4
  elseif not found then
    state = 3
    if retakes and not (two_names and held_by_other(KEYS[i])) then
      local taken = try('SET', KEYS[i], value, 'PX', expiry_ms, 'NX')
      if taken then state = 2 elseif taken == nil then state = 4 end
    end
  end
  if state == 1 or state == 2 then
    renewed = renewed + 1
    if ARGV[2] == '1' then try('ZADD', KEYS[1], until_ms, string.sub(value, -26)) end
    if records and string.byte(recorded, i - 1) == 49 then
      local item = string.sub(KEYS[i], #own_locks + 1, #own_locks + most_bytes + 1)
      local length = #KEYS[i] - #own_locks
      runs[#runs + 1] = value
      runs[#runs + 1] = string.format('%.0f %d ', #item == length and 0 or until_ms, length) .. item
    end
  end
  reply[#reply + 1] = state
end
if refusal and renewed == 0 then return refusal end
if #runs > 0 then
  local claims = string.sub(own_locks, 1, -6) .. 'claims'
  try('HSET', claims, unpack(runs))
  try('PEXPIRE', claims, 604800000)
end
if ARGV[2] == '1' then try('PEXPIRE', KEYS[1], math.max(86400000, 2 * expiry_ms)) end
return reply
