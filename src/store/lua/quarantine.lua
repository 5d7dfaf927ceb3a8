-- Takes items of a circular list out of work until they are released: those that run, when their
-- run ends.
--
-- KEYS  1 list  2 quarantined  3… a lock for each item
-- ARGV  1 known_listed (parts/listed.lua)
--       2 what the index says of them: who, why, when (w8y-keys(7))
--       3… items
-- Reply for each item 1 done, 2 was in quarantine already, 3 runs: it will be at the end of its
--       run, 4 that has been asked before, 0 not in the list; an empty reply: the caller must find
--       the items and send known_listed

-- include parts/read_lock.lua
local known_listed = ARGV[1]
-- include parts/listed.lua
if not is_listed then return {} end

local reply = {}
for i = 3, #ARGV do
  local lock, item = KEYS[i], ARGV[i]
  local found = read(lock)
  local held = found ~= false -- a lock of a wrong type is somebody's, too
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
    -- Refused because of its type, unless this user may not do it at all: before anything changes.
    local may = redis.pcall('HSET', KEYS[1], '', '')
    if not string.find(may.err, 'WRONGTYPE') then return may end
    redis.call('SET', lock, 'quarantine:manual')
  end
  if state == 1 or state == 3 then redis.call('HSET', KEYS[2], item, ARGV[2]) end
  reply[i - 2] = state
end
return reply
