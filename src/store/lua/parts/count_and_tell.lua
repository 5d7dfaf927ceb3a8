-- Counts `count`, and then publishes pairs of channel and message. A server that refuses writes, or
-- an invalid counter, fails first: then no message was sent about a change that did not happen. An
-- ACL may refuse the messages: then nothing is counted.
local function count_all_and_tell(counter, count, told)
  redis.call('INCRBY', counter, count)
  for i = 1, #told, 2 do
    if type(redis.pcall('PUBLISH', told[i], told[i + 1])) == 'table' then
      if redis.pcall('INCRBY', counter, -count) == 0 then redis.pcall('DEL', counter) end
      redis.call('PUBLISH', told[i], told[i + 1]) -- fails again, which ends the script
    end
  end
end
local function count_and_tell(counter, ...) count_all_and_tell(counter, 1, {...}) end
