-- Ends the delay or quarantine of items, and resets their failures. The lock of a run is never
-- changed; a quarantine at the end of the run is revoked.
--
-- KEYS  1 list  2 failures  3 quarantined  4… two locks for each item: its own, and the lock that
--         it would have with the other lock_key
-- ARGV  1 known_listed (parts/listed.lua)  2 wake channel
--       3… items
-- Reply for each item 1 released, 2 was free already, 3 runs: not changed, 4 runs, and will not be
--       quarantined at its end, 0 not in the list; an empty reply: the caller must find the items
--       and send known_listed

local function is_rest(found)
  return type(found) == 'string' and
    (string.sub(found, 1, 6) == 'delay:' or string.sub(found, 1, 11) == 'quarantine:')
end

-- include parts/read_lock.lua
local known_listed = ARGV[1]
-- include parts/listed.lua
-- include parts/free_message.lua

-- Reads everything, then checks the permissions, and then makes the changes.
local reply, locks, items, forget, released = {}, {}, {}, {}, {}
for i = 3, #ARGV do
  local item = ARGV[i]
  local own, other = read(KEYS[2 * i - 2]), read(KEYS[2 * i - 1])
  local indexed = redis.call('HEXISTS', KEYS[3], item) == 1
  local state = 3
  if is_rest(own) then
    locks[#locks + 1] = KEYS[2 * i - 2]
    state = 1
  elseif not own and not indexed then
    if not is_listed and not is_rest(other) then return {} end
    state = is_listed and is_listed(i - 2, item) and 2 or 0
  elseif not own then
    state = 1
  elseif type(own) == 'table' and not string.find(own.err, 'WRONGTYPE') then
    return own
  elseif indexed then
    state = 4
  end
  if is_rest(other) then
    locks[#locks + 1] = KEYS[2 * i - 1]
    if state == 0 or state == 2 then state = 1 end
  end
  if state == 1 then released[#released + 1] = item end
  if indexed then items[#items + 1] = item end
  if state < 3 then forget[#forget + 1] = item end
  reply[i - 2] = state
end

-- With the permission, this changes nothing: the key is a list or does not exist.
local may = redis.pcall('HDEL', KEYS[1], '')
if type(may) == 'table' and not string.find(may.err, 'WRONGTYPE') then return may end
-- No client can act on it before the script ends.
if #released > 0 then redis.call('PUBLISH', ARGV[2], free_message(KEYS[1], released)) end
if #locks > 0 then redis.call('DEL', unpack(locks)) end
if #items > 0 then redis.call('HDEL', KEYS[3], unpack(items)) end
if #forget > 0 then redis.pcall('HDEL', KEYS[2], unpack(forget)) end
return reply
