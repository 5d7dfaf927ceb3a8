-- Changes jobs, each in one step: finish, cancel, stall, retry, retract, next.
--
-- KEYS  1 config  2 ids  3 items  4 published  5 claimed  6 cancelled  7 stalled  8 finishes
--       9 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 "finish", "cancel", "stall", "retry", "retract", "next"
--       3 prefix of lease keys  4 records of w8y claims
--       5 "finish": channel of its result; "": none  6 the result
--       7… ids
-- Reply for each 1 done, 0 it is not claimed (retry: not stalled; retract: does not exist; next:
--       not queued), or text: the holder, which alone can finish it
-- The keys of w8y (ARGV 3 and 4) are not declared, so that a user with permissions only for
-- Thoonk's keys can run this script.

local ids, items, published, claimed = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local cancelled, stalled, finishes, feed_taken = KEYS[6], KEYS[7], KEYS[8], ARGV[4]
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/feed_time.lua
-- include parts/count_and_publish.lua
-- include parts/feed_job.lua
-- include parts/job_claims.lua
-- include parts/job_reruns.lua
-- include parts/feed_wake.lua

local wrong = unusable(KEYS[9], ARGV[1], KEYS[1], 'job')
  or first_wrong(ids, 'list', items, 'hash', published, 'zset', claimed, 'zset', cancelled, 'hash',
    stalled, 'set', finishes, 'string')
if wrong then return wrong end

local function is_claimed(id) return redis.call('ZSCORE', claimed, id) end
-- Returns whether the job was retracted between the two steps of another client's claim. Then there
-- is nothing to queue or to keep.
local function is_gone(id, lease)
  if redis.call('HEXISTS', items, id) == 1 then return false end
  redis.call('HDEL', cancelled, id)
  unclaim(id, lease)
  return true
end
local queued = ARGV[2] == 'cancel' or ARGV[2] == 'retry'
local changes = {
  finish = function(id, lease)
    local score = is_claimed(id)
    if not score then return 0 end
    local holder = redis.call('GET', lease)
    if holder then return string.sub(holder, 1, 256) end
    local entry = redis.pcall('HGET', rerun_claims, id)
    local stays = type(entry) == 'string' and is_rerun_of(entry, score)
      and redis.call('HEXISTS', items, id) == 1
    finish(id, lease, ARGV[5] ~= '' and ARGV[5], ARGV[6], stays)
    if stays then
      queued = true
      redis.pcall('INCRBY', 'feed.publishes:' .. feed_name, 1)
    end
    if type(entry) == 'string' then forget_reruns(id) end
    return 1
  end,
  cancel = function(id, lease)
    if not is_claimed(id) or is_gone(id, lease) then return 0 end
    cancel(id, lease)
    forget_reruns(id)
    return 1
  end,
  stall = function(id, lease)
    if not is_claimed(id) or is_gone(id, lease) then return 0 end
    stall(id, lease)
    forget_reruns(id)
    write_cause(id, lease, '', function() return 'by an operator' end)
    return 1
  end,
  retry = function(id)
    if redis.call('SISMEMBER', stalled, id) == 0 then return 0 end
    local is_there = redis.call('HEXISTS', items, id) == 1
    redis.call('SREM', stalled, id)
    if not is_there then return 0 end
    if type(redis.pcall('LPUSH', ids, id)) == 'table' then
      redis.call('SADD', stalled, id)
      redis.call('LPUSH', ids, id) -- without the permission: fails again, which ends the script
    end
    redis.call('ZADD', published, now_ms, id)
    return 1
  end,
  next = function(id)
    local places = redis.call('LPOS', ids, id, 'COUNT', 0)
    if #places == 0 then return 0 end
    -- Adds the job before the other copies are removed, so that it is not lost if a permission is
    -- missing.
    redis.call('RPUSH', ids, id)
    if type(redis.pcall('LREM', ids, #places, id)) == 'table' then
      redis.call('RPOP', ids)
      redis.call('LREM', ids, #places, id)
    end
    return 1
  end,
  retract = function(id, lease)
    if redis.call('HEXISTS', items, id) == 0 then return 0 end
    redis.call('HDEL', cancelled, id)
    redis.call('ZREM', published, id)
    redis.call('SREM', stalled, id)
    unclaim(id, lease)
    redis.call('LREM', ids, 0, id)
    redis.call('HDEL', items, id)
    forget_reruns(id)
    forget_result(id, lease)
    return 1
  end,
}
local reply, any = {}, false
for i = 7, #ARGV do
  local done = changes[ARGV[2]](ARGV[i], ARGV[3] .. ARGV[i])
  any = any or done == 1
  reply[#reply + 1] = done
end
if queued and any then tell_waiting(ARGV[1]) end
return reply
