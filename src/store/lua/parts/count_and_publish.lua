-- Adds `count` to `counter`, and then publishes pairs of channel and message. If the server refuses
-- writes or the counter is invalid, the script fails before it publishes a change that did not
-- happen. If an ACL refuses the messages, nothing is counted.
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
