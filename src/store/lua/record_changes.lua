-- Records changes of items by an operator, the newest first.
--
-- KEYS  1 changes
-- ARGV  1 maximum number of records  2 life of the key, ms
--       3… JSON objects without their first member, the time: ',"change":"released",…}'
-- Reply the number of records that were written

local most = tonumber(ARGV[1])
local time = redis.call('TIME')
local start = string.format('{"time_ms":%s%03d', time[1], math.floor(time[2] / 1000))
local records = {}
for i = 3, #ARGV do records[#records + 1] = start .. ARGV[i] end
-- Trims first, so that the list does not grow if Redis refuses to trim it.
local kept = most - #records
redis.call('LTRIM', KEYS[1], kept > 0 and 0 or 1, math.max(kept - 1, 0))
redis.call('LPUSH', KEYS[1], unpack(records))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return #records
