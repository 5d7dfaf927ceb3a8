-- Quarantines items of a circular list until they are released. Running items are quarantined at
-- the end of their run.
--
-- KEYS  1 list  2 quarantined  3… a lock for each item
-- ARGV  1 known_listed (parts/listed.lua)
--       2 entry in the index of quarantines: by, reason, time (w8y-keys(7))
--       3… items
-- Reply for each item 1 done, 2 was quarantined already, 3 runs: will be quarantined at the end of
--       its run, 4 as 3, requested before, 0 not in the list; an empty reply: the caller must find
--       the items and send known_listed

-- include parts/read_lock.lua
local known_listed = ARGV[1]
-- include parts/listed.lua
if not is_listed then return {} end

local reply = {}
for i = 3, #ARGV do
  local lock, item = KEYS[i], ARGV[i]
  local found = read(lock)
  local held = found ~= false -- a lock of a wrong type counts as a lock of another program
  if type(found) == 'table' then
    if not string.find(found.err, 'WRONGTYPE') then return found end
    found = ''
  end
  local indexed = redis.call('HEXISTS', KEYS[2], item) == 1
  local state = 1
  if not is_listed(i - 2, item) then
    state = 0
  elseif held and string.sub(found, 1, 11) == 'quarantine:' then
    state = 2
  elseif held and string.sub(found, 1, 6) ~= 'delay:' then
    state = indexed and 4 or 3
  end
  if state == 1 then
    -- Checks the permission before any change. With it, the command is refused because of the key's
    -- type.
    local may = redis.pcall('HSET', KEYS[1], '', '')
    if not string.find(may.err, 'WRONGTYPE') then return may end
    redis.call('SET', lock, 'quarantine:manual')
  end
  if state == 1 or state == 3 then redis.call('HSET', KEYS[2], item, ARGV[2]) end
  reply[i - 2] = state
end
return reply
