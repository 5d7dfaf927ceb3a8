-- Counts so many, and then tells: (channel, message) in turn. A server that takes no writes, and a count that
-- is none, refuse the first: then nobody has been told of what did not happen. An ACL may refuse the
-- second: then nothing is counted.
local function count_all_and_tell(counter, count, told)
  redis.call('INCRBY', counter, count)
  for i = 1, #told, 2 do
    if type(redis.pcall('PUBLISH', told[i], told[i + 1])) == 'table' then
      if redis.pcall('INCRBY', counter, -count) == 0 then redis.pcall('DEL', counter) end
      redis.call('PUBLISH', told[i], told[i + 1]) -- refused again: that ends the script
    end
  end
end
local function count_and_tell(counter, ...) count_all_and_tell(counter, 1, {...}) end
