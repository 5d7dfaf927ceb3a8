-- Adds items that are not in a circular list to its end. A new item starts without failures, delay
-- or quarantine.
--
-- KEYS  1 list  2 failures  3 quarantined  4… two locks for each item: its own, and the lock that
--         it would have with the other lock_key
-- ARGV  1 known_listed (parts/listed.lua)
--       2 "1": also adds items that are in the list already
--       3 wake channel
--       4… items
-- Reply for each item 1 added, 0 in the list already; an empty reply: the caller must find the
--       items and send known_listed

local known_listed = ARGV[1]
-- include parts/listed.lua
if not is_listed then return {} end

-- Reads everything before the first change.
local reply, to_add, new, locks, seen = {}, {}, {}, {}, {}
for i = 4, #ARGV do
  local item = ARGV[i]
  -- Items that other clients added since the pass are near the end.
  local listed = seen[item] or is_listed(i - 3, item)
    or redis.call('LPOS', KEYS[1], item, 'RANK', -1, 'MAXLEN', searched)
  seen[item] = true
  if not listed then
    new[#new + 1] = item
    for key = 2 * i - 4, 2 * i - 3 do
      local found = redis.pcall('GET', KEYS[key])
      if type(found) == 'string' and
          (string.sub(found, 1, 6) == 'delay:' or string.sub(found, 1, 11) == 'quarantine:') then
        locks[#locks + 1] = KEYS[key]
      elseif type(found) == 'table' and not string.find(found.err, 'WRONGTYPE') then
        return found
      end
    end
  end
  local adds = not listed or ARGV[2] == '1'
  if adds then to_add[#to_add + 1] = item end
  reply[i - 3] = adds and 1 or 0
end
if #to_add == 0 then return reply end

-- Checks the permissions before any change. With them, the command is refused because of the key's
-- type, or has no effect. The message has no effect before the script ends.
local may = redis.pcall('HDEL', KEYS[1], '')
if type(may) == 'table' and not string.find(may.err, 'WRONGTYPE') then return may end
if #locks > 0 then
  may = redis.pcall('RPUSH', locks[1], '')
  if not string.find(may.err, 'WRONGTYPE') then return may end
end
redis.call('PUBLISH', ARGV[3], 'added')
if #locks > 0 then redis.call('DEL', unpack(locks)) end
redis.call('RPUSH', KEYS[1], unpack(to_add))
if #new > 0 then
  redis.pcall('HDEL', KEYS[2], unpack(new))
  redis.pcall('HDEL', KEYS[3], unpack(new))
end
return reply
