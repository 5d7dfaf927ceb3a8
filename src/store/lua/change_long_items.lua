-- Changes long items of a list at their position, as other items are changed by their names: they
-- are not sent to the caller.
--
-- KEYS  1 list  2 failures  3 quarantined
-- ARGV  1 index of the part's first item; below 0: it counts from the end
--       2 number of items of the part
--       3 maximum number of bytes to read; reading stops after the item that reaches it
--       4 number of fingerprints to return: of the last items that are not removed
--       5 prefix of lock keys ("work:lock:")  6 the same with the other lock_key
--       7 "remove", "release" or "quarantine"
--       8 selection: a run ID, or states (" delayed quarantined ")
--       9 only items that are longer
--       10 wake channel  11 quarantine: entry in the index
-- Reply {index of the part's first item, number of items read, 1 if this is all of the part,
--        {fingerprint, …}; for each changed item its start and its length, …}

-- include parts/list_part.lua
-- include parts/remove_places.lua
local prefix, other, what, which = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local by_run = string.sub(which, 1, 1) ~= ' '
local items, first, is_whole =
  list_part(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
local fingerprints = {}
local reply = {first, #items, is_whole and 1 or 0, fingerprints}
local released = false

local function value_of(lock)
  local found = redis.pcall('GETRANGE', lock, 0, 1023)
  return type(found) == 'string' and found or '?' -- a wrong type: a lock of another program
end
local function is_rest(value)
  return string.sub(value, 1, 6) == 'delay:' or string.sub(value, 1, 11) == 'quarantine:'
end
local function state_of(value, indexed)
  if string.sub(value, 1, 6) == 'delay:' and not indexed then return 'delayed' end
  if is_rest(value) then return 'quarantined' end
  if value ~= '' then return 'running' end
  return indexed and 'quarantined' or 'free'
end

-- Returns whether this user may change items. Checks the permissions before the first change.
local changed, proved, refusal = {}, false, nil
local function may_change(lock)
  if proved then return true end
  local commands = {{'HDEL', KEYS[1], ''}, {'LREM', lock, 0, ''}}
  if what == 'quarantine' then commands = {{'HSET', KEYS[1], '', ''}} end
  for _, command in ipairs(commands) do
    local may = redis.pcall(unpack(command))
    if type(may) == 'table' and not string.find(may.err, 'WRONGTYPE') then refusal = may end
  end
  proved = not refusal
  return proved
end
-- Changes the item if it is selected, and returns whether it is. Other copies follow the copy that was
-- examined first.
local function change(item)
  if changed[item] then return true end
  local lock = prefix .. item
  local value = value_of(lock)
  local indexed = redis.pcall('HEXISTS', KEYS[3], item) == 1
  local wanted
  if by_run then
    wanted = string.sub(value, -#which) == which
  else
    wanted = string.find(which, ' ' .. state_of(value, indexed) .. ' ', 1, true)
  end
  if not wanted or not may_change(lock) then return false end
  changed[item] = true
  reply[#reply + 1] = string.sub(item, 1, ARGV[9])
  reply[#reply + 1] = #item
  if what == 'quarantine' then
    if value == '' or string.sub(value, 1, 6) == 'delay:' then
      redis.call('SET', lock, 'quarantine:manual')
    end
    redis.call('HSET', KEYS[3], item, ARGV[11])
    return true
  end
  redis.pcall('HDEL', KEYS[2], item)
  redis.pcall('HDEL', KEYS[3], item)
  if what == 'remove' then redis.pcall('HDEL', string.sub(KEYS[2], 1, -9) .. 'reruns', item) end
  for _, name in ipairs({lock, other .. item}) do
    if is_rest(value_of(name)) then
      redis.call('DEL', name)
      released = true
    end
  end
  return true
end

local removed = {}
for i = #items, 1, -1 do
  local item = items[i]
  if #item > tonumber(ARGV[9]) and change(item) and what == 'remove' then
    removed[#removed + 1] = i
  elseif #fingerprints < tonumber(ARGV[4]) then
    fingerprints[#fingerprints + 1] = redis.sha1hex(item)
  end
end
if refusal then return refusal end
if #removed > 0 then remove_places(KEYS[1], items, first, removed) end
if released and what == 'release' then redis.call('PUBLISH', ARGV[10], 'free') end
return reply
