-- Times of feeds and jobs are Redis's, in ms. Other clients write seconds with a fraction in places:
-- a score that is too small for ms (those of 1973) is in seconds.

local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now_ms = math.floor(now_us / 1000)

local least_ms = 1e11
local function in_ms(score)
  score = tonumber(score)
  return score < least_ms and score * 1000 or score
end
