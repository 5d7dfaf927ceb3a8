-- Times of feeds and jobs are those of Redis, in ms. Other clients write some times as seconds with
-- a fraction: a score that is too small for ms (a time in 1973) is in seconds.

local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now_ms = math.floor(now_us / 1000)

local least_ms = 1e11
local function in_ms(score)
  score = tonumber(score)
  return score < least_ms and score * 1000 or score
end
