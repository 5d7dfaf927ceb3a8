-- Removes named items from a part of a circular list, with their delay or quarantine, their failures
-- and their mark to run again. An active run keeps its lock, and finishes.
--
-- KEYS  1 list  2 failures  3 quarantined
-- ARGV  1 to 4: the part (parts/named_items.lua)
--       5 "free", "running", "delayed" or "quarantined": only items in this state; "": all
--       6 prefix of lock keys ("work:lock:")  7 the same with the other lock_key
--       8 a digit for each name: "1" if a copy was removed from another part, and the state no
--         longer matters
--       9… names
-- Reply {index of the part's first item, number of items read, 1 if this is all of the part,
--        {fingerprint of an item without a name, …};
--        number of each name that is in the part, copies removed or -1 if it is in another state,
--        …}

-- include parts/read_lock.lua
local first_name = 9
-- include parts/list_part.lua
-- include parts/named_items.lua
-- include parts/remove_places.lua

local function starts(value, with)
  return type(value) == 'string' and string.sub(value, 1, #with) == with
end
local function is_rest(value) return starts(value, 'delay:') or starts(value, 'quarantine:') end

-- Returns the state of an item, with the same names as in w8yctl items.
local function state_of(item, lock)
  if lock and not is_rest(lock) then return 'running' end
  if starts(lock, 'quarantine:') or redis.pcall('HEXISTS', KEYS[3], item) == 1 then
    return 'quarantined'
  end
  return lock and 'delayed' or 'free'
end

-- If the locks stayed, a delay would outlive its item until it expires, and a quarantine would never end.
local locks, names, places = {}, {}, {}
for _, one in ipairs(found) do
  local name = ARGV[first_name + one[1] - 1]
  local values = {}
  for i = 1, 2 do
    values[i] = read(ARGV[5 + i] .. name)
    if type(values[i]) == 'table' and not string.find(values[i].err, 'WRONGTYPE') then
      return values[i]
    end
  end
  reply[#reply + 1] = one[1]
  local is_meant = ARGV[5] == '' or string.sub(ARGV[8], one[1], one[1]) == '1'
  if not is_meant and state_of(name, values[1]) ~= ARGV[5] then
    reply[#reply + 1] = -1
  else
    reply[#reply + 1] = #one - 1
    names[#names + 1] = name
    for i = 2, #one do places[#places + 1] = one[i] end
    for i = 1, 2 do
      if is_rest(values[i]) then locks[#locks + 1] = ARGV[5 + i] .. name end
    end
  end
end
if #names == 0 then return reply end

-- Checks the permissions before any change. With them, the commands are refused because of the
-- key's type, or have no effect.
for _, command in ipairs({{'HDEL', KEYS[1], ''}, {'LREM', ARGV[6] .. names[1], 0, ''}}) do
  local may = redis.pcall(unpack(command))
  if type(may) == 'table' and not string.find(may.err, 'WRONGTYPE') then return may end
end

if #locks > 0 then redis.call('DEL', unpack(locks)) end
remove_places(KEYS[1], items, first, places)
redis.pcall('HDEL', KEYS[2], unpack(names))
redis.pcall('HDEL', KEYS[3], unpack(names))
redis.pcall('HDEL', string.sub(KEYS[2], 1, -9) .. 'reruns', unpack(names))
return reply
