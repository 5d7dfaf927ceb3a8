-- Writes the records of interrupted runs of a circular list: a renewal has recorded the claim of the
-- run (parts/recorded_claim.lua), and its lease has ended without a settlement. The lock of the item
-- has expired, so nothing else is recovered. Examines at most 512 recorded claims, chosen at random.
--
-- KEYS  1 claims  2 runs
-- ARGV  1 limits of the history (parts/history.lua)
--       2 maximum bytes of an item in the history
--       3 prefix of lock keys ("work:lock:")  4 the same with the other lock_key
-- Reply {number of records, the last error of Redis or ""}

local claims, runs_key = KEYS[1], KEYS[2]
local own = ''
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
-- include parts/list_part.lua
-- include parts/history.lua
-- include parts/json_bytes.lua
-- include parts/interrupted.lua
-- include parts/recorded_claim.lua

local count = 0
local found = redis.call('HRANDFIELD', claims, 512, 'WITHVALUES')
for i = 1, #found, 2 do
  local run, claim = found[i], read_claim(found[i + 1])
  local function write(missing_ms)
    redis.call('HSET', claims, run, string.format('%.0f %d ', missing_ms, claim.length) .. claim.item)
  end
  if not host_of(run) or not claim then
    redis.call('HDEL', claims, run)
  elseif is_held(claim, run, ARGV[3], ARGV[4]) then
    if claim.missing_ms ~= 0 then write(0) end
  elseif claim.missing_ms == 0 then
    write(now_ms)
  elseif claim.ended then
    enter_interrupted(run, claim.item, tonumber(ARGV[2]), nil, reason_of(run), '', ARGV[1], claim.length)
    redis.call('HDEL', claims, run)
    count = count + 1
  end
end
write_history()
return {count, refused}
