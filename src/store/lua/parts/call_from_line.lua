-- Tells those who have waited for longest, as many as `count`, that it is their turn. Each has a channel
-- of its own: to tell all who wait of each end takes Redis 2 µs for each of them, and with a thousand
-- hosts that is more than a Redis can do.
-- One that does not hear of it is gone: it leaves the line, and the next one is told. In a cluster, whose
-- prefixes have a hash tag, PUBLISH counts the subscribers of one server only, and nobody leaves.
-- `now_ms`: nil, if it is not known yet. Returns how many were told, and an error of PUBLISH.
local turn_ms = 250
local function call_from_line(line, wake, count, news, now_ms)
  local in_cluster = string.find(line, '{', 1, true)
  local told, problem = 0, nil
  while told < count do
    local who = redis.pcall('ZRANGEBYSCORE', line, 0, '+inf', 'LIMIT', 0, count - told)
    if who.err or #who == 0 then break end
    if not now_ms then
      local time = redis.call('TIME')
      now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
    end
    for i = 1, #who do
      redis.pcall('ZADD', line, -(now_ms + turn_ms), who[i])
      local heard = redis.pcall('PUBLISH', wake .. ':' .. who[i], news)
      if type(heard) == 'table' then problem = heard end
      if heard ~= 0 or in_cluster or redis.pcall('ZREM', line, who[i]) ~= 1 then told = told + 1 end
    end
  end
  return told, problem
end
