-- Makes sure that a run of an item starts after this call. The item gets a mark
-- (parts/rerun_marks.lua): the settlement of its run frees it, and a settlement that comes too late
-- does not delay it. The delay of a delayed item ends, and its failures stay.
--
-- KEYS  1 list  2 quarantined  3 reruns  4 lock of the item  5 the lock that it would have with the
--         other lock_key
-- ARGV  1 wake channel  2 the item
-- Reply 1 its delay has ended, 2 was free already, 3 runs, and is free after its run, 4 quarantined,
--       or will be at the end of its run, 0 not in the list

-- include parts/read_lock.lua
local item = ARGV[2]
local delays, running, is_ours = {}, nil, false
for i = 4, 5 do
  local found = read(KEYS[i])
  if type(found) == 'table' and not string.find(found.err, 'WRONGTYPE') then return found end
  if type(found) == 'string' and string.sub(found, 1, 11) == 'quarantine:' then return 4 end
  if type(found) == 'string' and string.sub(found, 1, 6) == 'delay:' then
    delays[#delays + 1] = KEYS[i]
  elseif found and not is_ours then
    -- The lock of a run of w8y counts, since its settlement reads the mark.
    is_ours = type(found) == 'string' and string.sub(found, 1, 4) == 'run:'
    running = (is_ours or not running) and KEYS[i] or running
  end
end
if redis.call('HEXISTS', KEYS[2], item) == 1 then return 4 end
local index = redis.call('LPOS', KEYS[1], item)
if not index then return 0 end

-- Writes the mark. Returns the error of Redis, or nil.
local function mark(value)
  local done = redis.pcall('HSET', KEYS[3], item, value)
  if type(done) ~= 'table' or not string.find(done.err, 'WRONGTYPE') then
    return type(done) == 'table' and done or nil
  end
  return redis.error_reply('WRONGTYPE the key ' .. string.sub(KEYS[3], 1, 200)
    .. ' is not a hash; rename or delete it')
end
if running then
  -- The lock of another program may be of any length and type.
  local value = redis.pcall('GETRANGE', running, 0, 4095)
  return mark(type(value) == 'string' and value or '') or 3
end
-- No client can act on the message before the script ends. The number is that of the items to the
-- right of this one, see parts/free_message.lua.
if #delays > 0 then
  redis.call('PUBLISH', ARGV[1], 'free\n\n' .. redis.call('LLEN', KEYS[1]) - index - 1)
end
local before = redis.pcall('HMGET', KEYS[3], item)[1]
local refused = mark('')
if refused or #delays == 0 then return refused or 2 end
local ended = redis.pcall('DEL', unpack(delays))
if type(ended) == 'number' then return 1 end
if not before then redis.pcall('HDEL', KEYS[3], item) end
return ended
