-- Gives the turn to the first `count` hosts of the wait queue. Each host has a channel of its own
-- for that: a message to all hosts takes Redis 2 µs for each, and for a thousand hosts that is more
-- than a Redis can do.
-- A host without a subscriber has died. It leaves the queue, and the next host gets the turn. If
-- the prefix has a hash tag, Redis may be a cluster, where PUBLISH counts the subscribers of one
-- server only: then no host is removed. `now_ms`: nil if it is not known yet. Returns the number of
-- hosts that were notified, and an error of PUBLISH.
local turn_ms = 250
local function call_from_line(queue, wake, count, news, now_ms)
  local in_cluster = string.find(queue, '{', 1, true)
  local notified, problem = 0, nil
  while notified < count do
    local hosts = redis.pcall('ZRANGEBYSCORE', queue, 0, '+inf', 'LIMIT', 0, count - notified)
    if hosts.err or #hosts == 0 then break end
    if not now_ms then
      local time = redis.call('TIME')
      now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
    end
    for i = 1, #hosts do
      redis.pcall('ZADD', queue, -(now_ms + turn_ms), hosts[i])
      local receivers = redis.pcall('PUBLISH', wake .. ':' .. hosts[i], news)
      if type(receivers) == 'table' then problem = receivers end
      local gone = receivers == 0 and not in_cluster and redis.pcall('ZREM', queue, hosts[i]) == 1
      if not gone then notified = notified + 1 end
    end
  end
  return notified, problem
end
