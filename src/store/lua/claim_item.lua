-- Claims one item of a circular list, in one step, regardless of its delay and of the wait queue.
-- The list is not changed.
--
-- KEYS  1 list  2 fence  3 failures  4 slots  5 paused  6 quarantined  7 the item's lock
-- ARGV  1 the value of the lock ("run:<host>:<pid>:<run id>")  2 its life, ms
--       3 maximum number of runs in the fleet; 0: no limit
--       4 the item  5 the run ID  6 maximum length of a lock's value, and of the reason of a pause,
--         in the reply
--       7 the largest fencing token of this list that the caller has seen
--       8 prefix of lock keys ("work:lock:")  9 the same with the other lock_key
-- Reply {status, detail, fencing token, consecutive failures}
--       status: "ok"
--               "paused"      by an operator; detail is the reason
--               "not_listed"  the list has no such item
--               "running"     detail is the lock, of w8y or another program
--               "quarantined"
--               "full"        the fleet limit is reached

local own_locks, other_locks = ARGV[8], ARGV[9]
local reruns = string.sub(KEYS[2], 1, -6) .. 'reruns'
-- include parts/claim_results.lua
-- include parts/other_locks.lua
-- include parts/rerun_marks.lua
local told = tonumber(ARGV[6])
local lock, item = KEYS[7], ARGV[4]
if redis.call('PTTL', KEYS[5]) ~= -2 then
  return {'paused', redis.call('GETRANGE', KEYS[5], 0, told - 1), 0, 0}
end
if not redis.call('LPOS', KEYS[1], item) then return {'not_listed', '', 0, 0} end

-- Reads the start of a lock, which shows its kind: a lock of another program may be of any length,
-- or not a string.
local function holder_of(name)
  if redis.call('EXISTS', name) == 0 then return end
  local found = redis.pcall('GETRANGE', name, 0, told - 1)
  if type(found) ~= 'string' then return {'running', '', 0, 0} end
  if string.sub(found, 1, 11) == 'quarantine:' then return {'quarantined', '', 0, 0} end
  if string.sub(found, 1, 6) ~= 'delay:' then return {'running', found, 0, 0} end
end
local two_names, has_marks = exists_and_marks(mark_of(other_locks))
local held = holder_of(lock) or two_names and holder_of(other_locks .. item)
if held then return held end
if two_names or not in_use(own_locks) then use_own_name(ARGV[2]) end
if redis.pcall('HEXISTS', KEYS[6], item) == 1 then return {'quarantined', '', 0, 0} end

local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now_ms = math.floor(now_us / 1000)
local limit = tonumber(ARGV[3])
if limit > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now_ms)
  redis.call('ZADD', KEYS[4], 'XX', 0, '') -- without permission for slots, nothing is claimed
  if redis.call('ZCARD', KEYS[4]) >= limit then return {'full', '', 0, 0} end
end
redis.call('SET', lock, ARGV[1], 'PX', ARGV[2])
if has_marks then claim_marks({item}, function() return ARGV[1] end) end
local fence = next_fence(KEYS[2], 1, now_us, ARGV[7])
local failures = failures_in_a_row(KEYS[3], {item})
if limit > 0 then take_places(KEYS[4], {ARGV[5]}, now_ms + ARGV[2], ARGV[2]) end
return {'ok', '', fence, failures[1] or 0}
