-- Takes the next item out of a queue, or claims the next job: one step.
--
-- KEYS  1 config  2 ids  3 items  4 claimed: of jobs
--       5 feeds; none: it is in another slot, and was asked
-- ARGV  1 feed  2 kind: "queue" or "job"  3 the longest item that can be told
-- Reply {"got", id, item}, {"none"}, {"long", id, length} nothing was done,
--       {"again"} many ids that stand for nothing were dropped
-- An id without an item is what another client has left behind that retracted the job: it goes.

local ids, items, job = KEYS[2], KEYS[3], ARGV[2] == 'job'
-- include parts/types.lua
-- include parts/feed_known.lua
-- include parts/feed_time.lua

local wrong = unusable(KEYS[5], ARGV[1], KEYS[1], ARGV[2])
  or first_wrong(ids, 'list', items, 'hash', KEYS[4], 'zset')
if wrong then return wrong end
for _ = 1, 1000 do
  local id = redis.call('LINDEX', ids, -1)
  if not id then return {'none'} end
  local length = redis.call('HSTRLEN', items, id)
  if length > tonumber(ARGV[3]) then return {'long', id, length} end
  local item = redis.call('HGET', items, id)
  if item then
    if job then redis.call('ZADD', KEYS[4], now_ms, id) else redis.call('HDEL', items, id) end
    redis.call('RPOP', ids)
    return {'got', id, item}
  end
  redis.call('RPOP', ids)
end
return {'again'}
