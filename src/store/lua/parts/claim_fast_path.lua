-- Short form of a claim, for half of the cost in Redis. It applies if one item is wanted, as by
-- most claims, the item at the left end is free, and the list has no failures, pause, quarantine,
-- wait queue, marks of reruns or second name of locks. Returns the reply, or nil if nothing was
-- claimed and the full claim must follow.
-- Needs parts/claim_results.lua, parts/claim_permissions.lua, parts/other_locks.lua. Defined by the including
-- script:
--   first_run  index of the first run ID in ARGV
--   reruns     key of the marks (parts/rerun_marks.lua)
local proved = ARGV[7] ~= '1' -- whether this user has all permissions
local function claim_first()
  if #ARGV ~= first_run or ARGV[4] ~= '0' or string.sub(ARGV[5], 1, 1) ~= '-' or #ARGV[5] > 2 then
    return
  end
  local other_name = mark_of(other_locks)
  if redis.pcall('EXISTS', KEYS[3], KEYS[5], KEYS[6], KEYS[7], reruns, other_name) ~= 0 then return end
  local length = redis.call('LLEN', KEYS[1])
  local item = length > 0 and redis.call('LRANGE', KEYS[1], '0', '0')[1]
  if not item or #item > tonumber(ARGV[13]) then return end
  if not proved then
    local refusal = may_not()
    if refusal then return refusal end
    proved = true
  end
  -- After the first claim of a list, one of both names has a key without expiry.
  local last_fence = redis.pcall('GET', KEYS[2])
  if type(last_fence) == 'table' and string.sub(last_fence.err, 1, 9) ~= 'WRONGTYPE' then
    redis.call('GET', KEYS[2]) -- raises the same error
  end
  if ARGV[7] == '1' or not last_fence then use_own_name(ARGV[3]) end
  if not redis.call('SET', ARGV[1] .. item, ARGV[2] .. ARGV[first_run], 'PX', ARGV[3], 'NX') then
    return
  end
  if length > 1 then redis.call('LMOVE', KEYS[1], KEYS[1], 'LEFT', 'RIGHT') end
  local time = redis.call('TIME')
  note_visits(KEYS[8], {item}, time[1] * 1000 + math.floor(time[2] / 1000))
  local fence = next_fence(KEYS[2], 1, time[1] * 1000000 + time[2], ARGV[16], last_fence)
  return {'ok', length - 1, -1, '', #item, #item, 0, item, fence, 0}
end
