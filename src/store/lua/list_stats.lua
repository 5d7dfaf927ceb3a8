-- Collects statistics of lists: the states of their items, and the cycle time.
--
-- KEYS  for each list: list, samples, quarantined
-- ARGV  1 maximum number of items to examine in this call, of all lists together
--       2 life of the samples, ms
--       3 maximum length of an item that is sampled
--       then for each list: prefix of lock keys
-- Reply {time of Redis in ms, for each list that was examined: {length, "1": the following are
--       estimates, numbers of items that are free, running, delayed, quarantined, cycle in ms or
--       -1, longest wait in ms or -1}}
-- A list of at most 256 items is examined completely. In a longer one, the script examines the
-- right end, where claimed items are, and some items at positions spread over the remaining part:
-- fewer positions if no sample is locked.
--
-- `samples` is a hash of up to 64 items: time of the last claim (ms), time from the claim before to
-- it (ms), and the known time since which it may be free (ms); 0: not known. Entries are padded, so
-- that Redis stores the hash as a hash table, and claim.lua, which looks up each claimed item, does
-- not read all of it. claim.lua updates the first two values. The item with the longest wait is
-- searched in its list, because a client may have removed it. In a long list, that takes Redis some
-- time, so there it is only done for an item that has waited for twice the cycle time.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local budget, life, longest_noted = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local whole, at_end, places, at_place, most_noted, group = 256, 128, 16, 8, 64, 128
local bytes, most_bytes = 0, 4194304
math.randomseed(time[2])

-- Length of the longest item of the list that was read so far, and the number of items to read at
-- once.
local longest, piece
-- Adds items to `items` and returns it. Their length is unknown before they are read, so fewer are
-- read at once if earlier ones of the same list are long.
local function read(list, first, count, items)
  local n = 0
  while n < count and bytes < most_bytes do
    local part = redis.call('LRANGE', list, first + n, first + math.min(n + piece, count) - 1)
    if #part == 0 then break end
    for i = 1, #part do
      n = n + 1
      bytes = bytes + #part[i]
      longest = math.max(longest, #part[i])
      items[#items + 1] = part[i]
    end
    piece = math.max(1, math.min(at_end, math.floor(262144 / (longest + 1))))
  end
  budget = budget - n
  return items
end

-- Returns how many of the locks of some items exist.
local function count_locks(prefix, items, first, last)
  local locks = {}
  for i = first, last do locks[#locks + 1] = prefix .. items[i] end
  return #locks == 0 and 0 or redis.call('EXISTS', unpack(locks))
end

-- `exists`: whether it is known that the lock exists.
local function state_of(lock, exists)
  local value = redis.pcall('GETRANGE', lock, 0, 5)
  if value == '' then
    return (exists or redis.call('EXISTS', lock) == 1) and 'running' or 'free'
  end
  return value == 'delay:' and 'delayed' or value == 'quaran' and 'quarantined' or 'running'
end

-- `free`: whether no sample is locked, so that probably all items before the right end are free.
local function count(list, length, prefix, free)
  local found = {}
  longest, piece = 0, 1
  local function new()
    return {free = 0, running = 0, delayed = 0, quarantined = 0}
  end
  -- Usually, none or all of some neighbours are locked.
  local function count_group(sum, items, first, last, size)
    local locked = count_locks(prefix, items, first, last)
    if locked > 0 and locked <= last - first and size > at_place then
      size = size / 4
      for from = first, last, size do
        count_group(sum, items, from, math.min(from + size - 1, last), size)
      end
      return
    end
    for i = first, last do
      local state = locked == 0 and 'free'
        or state_of(prefix .. items[i], locked == last - first + 1)
      sum[state] = sum[state] + 1
      found[items[i]] = true
    end
  end
  -- Adds the states of items. Returns the number of items.
  local function count_in(sum, items)
    for first = 1, #items, group do
      count_group(sum, items, first, math.min(first + group - 1, #items), group)
    end
    return #items
  end
  local sum = new()
  if length <= whole then
    local items = read(list, 0, length, {})
    return sum, count_in(sum, items) < length, items, found
  end
  local rest, spread, items = length - at_end, new(), {}
  local near = read(list, rest, at_end, {})
  count_in(sum, near)
  -- Locks that reach further left than the running items of most lists may continue there.
  if free and sum.free < #near then free = count_locks(prefix, near, 1, #near / 2) == 0 end
  local parts, size = places, at_place
  if free then parts, size = 2, 16 end
  local stride = rest / parts
  for k = 0, parts - 1 do
    local first = math.floor(k * stride + math.random() * math.max(0, stride - size))
    read(list, first, size, items)
  end
  local looked = count_in(spread, items)
  for state, n in pairs(spread) do
    if looked > 0 then sum[state] = sum[state] + math.floor(n * rest / looked + 0.5) end
  end
  return sum, true, items
end

-- Returns the samples: item, last claim, gap, and since when it may be free. Invalid entries are
-- deleted.
local function notes_of(key)
  local notes, gone = {}, {key}
  local fields = redis.pcall('HRANDFIELD', key, most_noted * 2, 'WITHVALUES')
  if fields.err then return nil end
  for i = 1, #fields, 2 do
    local visit, gap, free = false, false, false
    if #fields[i + 1] < 128 then
      visit, gap, free = string.match(fields[i + 1], '^(%d+) (%d+) (%d+) *$')
    end
    if visit and #notes < most_noted then
      notes[#notes + 1] = {item = fields[i], visit = tonumber(visit), gap = tonumber(gap),
        free = tonumber(free)}
    else
      gone[#gone + 1] = fields[i]
    end
  end
  return notes, gone
end

local function by_wait(a, b) return a.wait > b.wait end

local function count_locked(prefix, notes)
  local items = {}
  for i, note in ipairs(notes) do items[i] = note.item end
  return count_locks(prefix, items, 1, #items)
end

-- Returns the longest wait of an item. Marks samples that are deleted, and adds those that must be
-- written to `write`. `locked`: number of samples that are locked.
local function oldest_of(list, length, prefix, notes, locked, found, lap, write)
  local waiting = {}
  for _, note in ipairs(notes) do
    local lock = prefix .. note.item
    local left = locked == 0 and -2 or redis.call('PTTL', lock)
    budget = budget - 1
    if found and not found[note.item] then
      note.gone = true
    elseif left == -2 then
      note.wait = math.max(0, now - math.max(note.visit, note.free))
      waiting[#waiting + 1] = note
    else
      local state = state_of(lock, true)
      note.free = state == 'delayed' and now + math.max(left, 0) or now
      note.gone = state == 'quarantined'
      write[#write + 1] = note
    end
  end
  table.sort(waiting, by_wait)
  local tries = length <= 32768 and 8 or 1
  local credible = length <= 32768 and -1 or lap > 0 and 2 * lap or 600000
  for _, note in ipairs(waiting) do
    if found then
      return note.wait
    elseif note.wait <= credible then
      return note.wait
    elseif tries == 0 then
      return -1
    else
      tries = tries - 1
      budget = budget - math.ceil(length / 128)
      note.gone = not redis.call('LPOS', list, note.item, 'MAXLEN', 1000000)
    end
    if not note.gone then return note.wait end
  end
  return #waiting > 0 and -1 or 0
end

local function lap_of(notes)
  local gaps = {}
  for _, note in ipairs(notes) do
    if note.gap > 0 and not note.gone then gaps[#gaps + 1] = note.gap end
  end
  table.sort(gaps)
  if #gaps == 0 then return -1 end
  return gaps[math.floor((#gaps + 1) / 2)]
end

-- Adds samples from `items`, at random, until there are enough.
local function note_more(items, notes, write)
  local noted, n = {}, 0
  for _, note in ipairs(notes) do
    noted[note.item] = true
    if not note.gone then n = n + 1 end
  end
  for last = #items, 1, -1 do
    if n >= most_noted then return end
    local at = math.random(last)
    local item = items[at]
    items[at] = items[last]
    if #item <= longest_noted and not noted[item] then
      noted[item] = true
      n = n + 1
      write[#write + 1] = {item = item, visit = 0, gap = 0, free = now}
    end
  end
end

-- Returns the cycle time and the longest wait, and updates the samples.
local function visits_of(list, length, prefix, key, notes, gone, locked, found, items)
  local write = {}
  local lap = lap_of(notes)
  local oldest = oldest_of(list, length, prefix, notes, locked, found, lap, write)
  note_more(items, notes, write)
  local set = {key}
  for _, note in ipairs(write) do
    if not note.gone then
      set[#set + 1] = note.item
      set[#set + 1] = string.format('%-65s',
        string.format('%.0f %.0f %.0f', note.visit, note.gap, note.free))
    end
  end
  for _, note in ipairs(notes) do
    if note.gone then gone[#gone + 1] = note.item end
  end
  if #gone > 1 then redis.call('HDEL', unpack(gone)) end
  if #set > 1 then redis.call('HSET', unpack(set)) end
  -- The life is many times longer than 16 intervals of reads.
  if #set > 1 or now % 16 == 0 then redis.call('PEXPIRE', key, life) end
  return lap, oldest
end

local reply = {now}
for k = 1, #KEYS / 3 do
  local list, visits, quarantined = KEYS[3 * k - 2], KEYS[3 * k - 1], KEYS[3 * k]
  local length = redis.pcall('LLEN', list)
  if type(length) ~= 'number' then length = 0 end
  local prefix = ARGV[3 + k]
  local notes, gone
  if length > 0 then notes, gone = notes_of(visits) end
  local locked = notes and count_locked(prefix, notes)
  local sum, estimated, items, found =
    count(list, length, prefix, locked == 0 and #notes == most_noted)
  if estimated then
    local indexed = redis.pcall('HLEN', quarantined)
    sum.quarantined = math.min(length, type(indexed) == 'number' and indexed or 0)
    sum.running = math.min(sum.running, length - sum.quarantined)
    sum.delayed = math.min(sum.delayed, length - sum.quarantined - sum.running)
    sum.free = length - sum.quarantined - sum.running - sum.delayed
  end
  local lap, oldest = -1, -1
  if notes then
    lap, oldest = visits_of(list, length, prefix, visits, notes, gone, locked, found, items)
  end
  reply[#reply + 1] = {length, estimated and 1 or 0, sum.free, sum.running, sum.delayed,
    sum.quarantined, lap, oldest}
  if budget <= 0 or bytes >= most_bytes then break end
end
return reply
