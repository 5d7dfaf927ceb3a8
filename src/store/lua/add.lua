-- Adds items that are not in a circular list to its end. A new item starts without failures, delay
-- or quarantine.
--
-- KEYS  1 list  2 failures  3 quarantined  4… two locks for each item: its own, and the lock that
--         it would have with the other lock_key
-- ARGV  1 known_listed (parts/listed.lua)
--       2 "1": also adds items that are in the list already
--       3 wake channel
--       4 to 6: the request (parts/request.lua)
--       7… items
-- Reply {status (parts/request.lua), a digit for each item: 1 added, 0 in the list already, data}
--       status "long": the caller must find the items and send known_listed

local known_listed = ARGV[1]
local request = {ARGV[4], ARGV[5], ARGV[6]}
-- include parts/request.lua
-- include parts/listed.lua
-- include parts/list_part.lua
local before = recorded()
if before then return before end
local duplicates = ARGV[2] == '1'
if not is_listed and not duplicates then return {'long', '', ''} end

-- Reads everything before the first change.
-- Items that other clients added after the caller's search are near the end. For many items, the
-- script reads that part of the list once.
local near
if is_listed and #ARGV > 16 then
  local items, _, whole = list_part(KEYS[1], -searched, searched, 1048576)
  if whole then
    near = {}
    for _, item in ipairs(items) do near[item] = true end
  end
end
local is_long = redis.call('LLEN', KEYS[1]) > searched
local function is_there(number, item)
  if is_long and is_listed(number, item) then return true end
  if near then return near[item] end
  return redis.call('LPOS', KEYS[1], item, 'RANK', -1, 'MAXLEN', searched)
end

local results, to_add, new, locks, seen = {}, {}, {}, {}, {}
for i = 7, #ARGV do
  local item = ARGV[i]
  -- If duplicates are allowed in a long list without known_listed, each item counts as listed: its
  -- failures, delay and quarantine stay.
  local listed = not is_listed or seen[item] or is_there(i - 6, item)
  seen[item] = true
  if not listed then
    new[#new + 1] = item
    for key = 2 * i - 10, 2 * i - 9 do
      local found = redis.pcall('GET', KEYS[key])
      if type(found) == 'string' and
          (string.sub(found, 1, 6) == 'delay:' or string.sub(found, 1, 11) == 'quarantine:') then
        locks[#locks + 1] = KEYS[key]
      elseif type(found) == 'table' and not string.find(found.err, 'WRONGTYPE') then
        return found
      end
    end
  end
  local adds = not listed or duplicates
  if adds then to_add[#to_add + 1] = item end
  results[#results + 1] = adds and '1' or '0'
end
results = table.concat(results)
if #to_add == 0 then
  record(results)
  return {'written', results, request[3]}
end

-- Checks the permissions before any change. With them, the command is refused because of the key's
-- type, or has no effect. The message has no effect before the script ends.
local may = redis.pcall('HDEL', KEYS[1], '')
if type(may) == 'table' and not string.find(may.err, 'WRONGTYPE') then return may end
if #locks > 0 then
  may = redis.pcall('RPUSH', locks[1], '')
  if not string.find(may.err, 'WRONGTYPE') then return may end
end
redis.call('PUBLISH', ARGV[3], 'added')
record(results)
if #locks > 0 then redis.call('DEL', unpack(locks)) end
local added = redis.pcall('RPUSH', KEYS[1], unpack(to_add))
if type(added) == 'table' then
  unrecord()
  return added
end
if #new > 0 then
  redis.pcall('HDEL', KEYS[2], unpack(new))
  redis.pcall('HDEL', KEYS[3], unpack(new))
end
return {'written', results, request[3]}
