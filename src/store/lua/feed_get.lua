-- Removes and returns the next item of a queue, or claims the next job, in one step.
--
-- KEYS  1 config  2 ids  3 items  4 claimed, 5 stalled: of jobs
--       6 feeds; none: it is in another hash slot, and was checked before
-- ARGV  1 feed  2 kind: "queue" or "job"  3 maximum length of an item in the reply
-- Reply {"got", id, item}, {"none"}, {"long", id, length} nothing was changed,
--       {"again"} many IDs without an item were removed
-- An ID without an item is removed: another client has retracted the job. The ID of a job that is
-- claimed or stalled is removed as well: it is a duplicate, and the job has a holder.

local ids, items, job = KEYS[2], KEYS[3], ARGV[2] == 'job'
-- include parts/types.lua
-- include parts/feed_check.lua
-- include parts/feed_time.lua

local wrong = unusable(KEYS[6], ARGV[1], KEYS[1], ARGV[2])
  or first_wrong(ids, 'list', items, 'hash', KEYS[4], 'zset', KEYS[5], 'set')
if wrong then return wrong end
for _ = 1, 1000 do
  local id = redis.call('LINDEX', ids, -1)
  if not id then return {'none'} end
  local length = redis.call('HSTRLEN', items, id)
  if length > tonumber(ARGV[3]) then return {'long', id, length} end
  local has_holder = job
    and (redis.call('ZSCORE', KEYS[4], id) or redis.call('SISMEMBER', KEYS[5], id) == 1)
  local item = not has_holder and redis.call('HGET', items, id)
  local popped = redis.pcall('RPOP', ids)
  if type(popped) == 'table' then return popped end
  if item then
    local answer = job and redis.pcall('ZADD', KEYS[4], now_ms, id) or redis.pcall('HDEL', items, id)
    if type(answer) == 'table' then
      redis.call('RPUSH', ids, id)
      return answer
    end
    return {'got', id, item}
  end
end
return {'again'}
