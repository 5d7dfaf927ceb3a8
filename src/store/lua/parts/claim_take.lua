-- Locks the free items among some items of a circular list. Only claim.lua uses this part. It
-- defines the number of items to claim and the tables of found items.
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
  may_run[#may_run + 1] = name
end
local function all_locked(names, first, last)
  if redis.pcall('EXISTS', unpack(names, first, last)) ~= last - first + 1 then return false end
  for i = first, min(last - 1, first + 15 - #locked) do locked[#locked + 1] = names[i] end
  is_locked(names[last])
  return true
end
-- Tries to lock items. Returns the number of examined items.
local function take(items, names)
  local i, n = 1, #items
  while i <= n do
    local last = min(i + group - 1, n)
    if group > 1 and all_locked(names, i, last) then
      group = min(group * 4, 256)
      i = last + 1
    elseif group > 16 then
      group = 16
    else
      group = 1
      for k = i, last do
        if not try(items[k], names[k], k) then
          is_locked(names[k], items[k])
          group = 16
        end
        if #taken + #parked == want then return k end
      end
      i = last + 1
    end
  end
  return n
end
