-- Writes the records of interrupted runs of a circular list: a renewal has recorded the claim of the
-- run (renew.lua), and its lease ended 9 s ago without a settlement. A host that has only lost its
-- connection renews its leases within these 9 s. The lock of the item has expired, so nothing else
-- is recovered. Examines at most 512 recorded claims, chosen at random.
-- A recorded claim is "MISSING LENGTH ITEM": the time since which the lock is known to be missing,
-- ms, or 0 if no call has found it missing; the length of the item; the item or its start. If it has
-- only the start, the lock cannot be named: MISSING is then the end of the lease.
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

local count = 0
local function is_held(item, run)
  for i = 3, 4 do
    if redis.pcall('GETRANGE', ARGV[i] .. item, 0, #run) == run then return true end
  end
end
local found = redis.call('HRANDFIELD', claims, 512, 'WITHVALUES')
for i = 1, #found, 2 do
  local run = found[i]
  local missing_ms, length, item = string.match(found[i + 1], '^(%d+) (%d+) (.*)$')
  local ended = missing_ms and tonumber(missing_ms) < now_ms - 9000
  if not host_of(run) or not missing_ms then
    redis.call('HDEL', claims, run)
  elseif #item == tonumber(length) and is_held(item, run) then
    if missing_ms ~= '0' then redis.call('HSET', claims, run, '0 ' .. length .. ' ' .. item) end
  elseif missing_ms == '0' then
    redis.call('HSET', claims, run, string.format('%.0f ', now_ms) .. length .. ' ' .. item)
  elseif ended then
    enter_interrupted(run, item, tonumber(ARGV[2]), nil, reason_of(run), '', ARGV[1], tonumber(length))
    redis.call('HDEL', claims, run)
    count = count + 1
  end
end
write_history()
return {count, refused}
