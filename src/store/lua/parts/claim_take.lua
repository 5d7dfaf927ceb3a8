-- Locks the free items among some items of a circular list. Only claim.lua includes this part. It
-- defines the wanted number and the tables of found items.
local function quarantine(item, name)
  -- Sets the lock of a free item in the index of quarantines. The lock has another name after a
  -- change of lock_key, or is set at the end of its run. Afterwards the item is locked, so a
  -- long note is read only once. A note by w8y has the run near its start.
  local note = redis.call('HMGET', KEYS[6], item)[1]
  local run = string.match(string.sub(note, 1, 4096), '"run":"(%w+)"') or 'manual'
  redis.call('SET', name, 'quarantine:' .. run, 'NX')
end
-- Tries to lock an item. Returns false if it was locked. Does not read locks: those of other
-- programs may be of any length. NX decides, also for an item that is twice in the list and for a
-- lock that is not a string.
local function try(item, name, i)
  if two_names and redis.call('PTTL', other_locks .. item) ~= -2 then
    return false
  elseif indexed and redis.call('HEXISTS', KEYS[6], item) == 1 then
    if redis.call('EXISTS', name) == 1 then return false end
    quarantine(item, name)
  elseif #item > longest_taken then
    if not redis.call('SET', name, 'quarantine:' .. ARGV[#ARGV - #parked], 'NX') then
      return false
    end
    parked[#parked + 1] = item
    redis.pcall('HSET', KEYS[6], item, ARGV[15])
  elseif redis.call('SET', name, ARGV[2] .. ARGV[first_run + #taken], 'PX', ARGV[3], 'NX') then
    taken[#taken + 1] = item
    last_taken = i
  else
    return false
  end
  return true
end
local function is_locked(name, item)
  if two_names and item and redis.call('PTTL', name) == -2 then name = other_locks .. item end
  if #locked < 16 then locked[#locked + 1] = name end
  running = running or redis.pcall('GETRANGE', name, '0', '3') == 'run:'
end
-- Checks with one command that all of many items are locked, as is usual if others before them
-- were.
local function all_of(names, first, last)
  if first == last or redis.pcall('EXISTS', unpack(names, first, last)) ~= last - first + 1 then
    return false
  end
  for i = first, min(last - 1, first + 15 - #locked) do locked[#locked + 1] = names[i] end
  is_locked(names[last])
  return true
end
local function take(items, names)
  if all_locked and #items > 16 and all_of(names, 1, #names) then return #items end
  for first = 1, #items, 16 do
    local last = min(first + 15, #items)
    local may_be_locked = all_locked or #locked > 0
    if not (may_be_locked and all_of(names, first, last)) then
      for i = first, last do
        if not try(items[i], names[i], i) then is_locked(names[i], items[i]) end
        if #taken + #parked == want then return i end
      end
    end
  end
  return #items
end
