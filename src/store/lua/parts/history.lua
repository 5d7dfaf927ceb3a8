-- Writes run records to the history, and those of runs that did not succeed to a history of their own.
-- Protected calls: an error must not prevent the settlement of the lock. Defined by the including
-- script:
--   runs_key  the history: a list of run records, the newest first. Each is a JSON object: the
--             members of the message on the events channel, and more. The first member is the time
--             at which it was written, by the Redis clock. Of records that were written together,
--             only the newest and each 32nd after it have this member, because Lua hashes each byte
--             of a new string. In the history of failed runs, each record has it.
--   own       the end of the names of keys of this list alone, ":NAME"; "": the list does not share
--             its key prefix
-- Limits of a history: records and bytes, "1000 16777216". The history of failed runs also has the
-- greatest age in ms: "1000 16777216 604800000".
-- The share of a record is half of its bytes divided by its records. If no record exceeds its share,
-- trimming by number also limits the bytes. Otherwise the list `sizes` exists. Each entry is
-- "<bytes> <records> <1 if one record exceeds its share, else 0>", the newest first. Small records
-- share an entry. Needs parts/list_part.lua.

local key_prefix = string.sub(runs_key, 1, -5 - #own) -- without 'runs'
local list_name = own == '' and string.sub(key_prefix, 1, -2) or string.sub(own, 2)
local refused = '' -- the last error of Redis
local function note(answer, what)
  if type(answer) == 'table' and answer.err then refused = what .. ': ' .. answer.err end
  return answer
end

local histories = {} -- in order of their use, and by their limits
-- Returns the history that these limits are of.
local function history_of(limits)
  local history = histories[limits]
  if history then return history end
  local most, most_bytes, age = string.match(limits, '^(%d+) (%d+) ?(%d*)$')
  local kind = age == '' and '' or 'failed-'
  history = {key = key_prefix .. kind .. 'runs' .. own,
    sizes_key = key_prefix .. kind .. 'sizes' .. own,
    most = tonumber(most), most_bytes = tonumber(most_bytes), age = age ~= '' and age, entries = {}}
  histories[#histories + 1], histories[limits] = history, history
  return history
end

-- Returns whether the newest 1,000 records, at most 16 MiB, include the record of a run.
local function noted(id, limits)
  local history = history_of(limits)
  if not history.known then
    history.known = {}
    local refusal = note(redis.pcall('LRANGE', history.key, 1, 0), 'LRANGE').err
    for _, record in ipairs(refusal and {} or list_part(history.key, 0, 1000, 16777216)) do
      local _, before = string.find(record, '"run":"', 1, true)
      if before then history.known[string.match(record, '^[^"]*', before + 1)] = true end
    end
  end
  return history.known[id] == true
end

-- Adds a run record to write. `event`: the message. `more`: further members, each after a comma.
local function enter(event, more, limits)
  local entries = history_of(limits).entries
  entries[#entries + 1] = more == '' and event or string.sub(event, 1, -2) .. more .. '}'
end

-- Returns the sizes of the existing records: {bytes, records, has a larger one}, …, the newest first.
local function read_sizes(history)
  local sizes = {}
  for _, entry in ipairs(note(redis.pcall('LRANGE', history.sizes_key, 0, -1), 'LRANGE')) do
    local bytes, records, larger = string.match(entry, '^(%d+) (%d+) (%d)$')
    if not bytes then break end
    sizes[#sizes + 1] = {tonumber(bytes), tonumber(records), larger == '1'}
  end
  local key, most, most_bytes = history.key, history.most, history.most_bytes
  if #sizes > 0 or note(redis.pcall('LRANGE', key, 1, 0), 'LRANGE').err then return sizes end
  for _, record in ipairs(list_part(key, 0, most, most_bytes)) do
    sizes[#sizes + 1] = {#record, 1, #record > most_bytes / most / 2}
  end
  return sizes
end

-- Makes room for the new records, by bytes. Returns the first of them that is written, and the
-- number of older records that are kept.
local function make_room(history, bytes, is_large)
  local entries, most, most_bytes = history.entries, history.most, history.most_bytes
  local sizes_key, first = history.sizes_key, 1
  while first < #entries and (bytes > most_bytes or #entries - first >= most) do
    bytes = bytes - #entries[first]
    first = first + 1
  end
  local own = #entries - first + 1
  local sizes = {{bytes, own, is_large}}
  local kept, sum = 0, bytes
  for _, old in ipairs(first > 1 and {} or read_sizes(history)) do
    sum = sum + old[1]
    if sum > most_bytes or own + kept >= most then break end
    kept = kept + old[2]
    is_large = is_large or old[3]
    local last = sizes[#sizes]
    if last[1] + old[1] <= most_bytes / 16 then
      sizes[#sizes] = {last[1] + old[1], last[2] + old[2], last[3] or old[3]}
    else
      sizes[#sizes + 1] = old
    end
  end
  note(redis.pcall('DEL', sizes_key), 'DEL')
  if is_large then
    for i, size in ipairs(sizes) do
      sizes[i] = string.format('%.0f %d %d', size[1], size[2], size[3] and 1 or 0)
    end
    note(redis.pcall('RPUSH', sizes_key, unpack(sizes)), 'RPUSH')
  end
  return first, math.min(kept, most - own)
end

-- Deletes the oldest records of the history of failed runs that are older than its limit. If no run
-- fails for that long, the key expires.
local function delete_old(history, now_ms)
  local before, old = now_ms - tonumber(history.age), 0
  while old < 64 + #history.entries do
    local oldest = redis.pcall('LRANGE', history.key, -1 - old, -1 - old)[1]
    local entered = oldest and string.match(oldest, '^{"entered_ms":(%d+)')
    if not entered or tonumber(entered) >= before then break end
    old = old + 1
  end
  if old > 0 then note(redis.pcall('LTRIM', history.key, 0, -1 - old), 'LTRIM') end
end

local time_member -- of the records that this call writes
local now_in_ms
local function read_time()
  if time_member then return end
  local time = redis.call('TIME')
  now_in_ms = time[1] * 1000 + math.floor(time[2] / 1000)
  time_member = string.format('{"entered_ms":%s%03d,', time[1], math.floor(time[2] / 1000))
end

local function write(history)
  local entries, most, most_bytes = history.entries, history.most, history.most_bytes
  read_time()
  for i = #entries, 1, history.age and -1 or -32 do
    entries[i] = time_member .. string.sub(entries[i], 2)
  end

  local bytes, largest = 0, 0
  for i = 1, #entries do
    local size = #entries[i]
    bytes = bytes + size
    if size > largest then largest = size end
  end
  if history.age then delete_old(history, now_in_ms) end
  local first, kept = 1, most - #entries
  local is_large = largest > most_bytes / most / 2
  if is_large or redis.pcall('EXISTS', history.sizes_key) ~= 0 then
    first, kept = make_room(history, bytes, is_large)
    if history.age then redis.pcall('PEXPIRE', history.sizes_key, history.age) end
  elseif kept < 0 then
    first, kept = 1 - kept, 0
  end
  local trimmed = redis.pcall('LTRIM', history.key, kept == 0 and 1 or 0, math.max(kept - 1, 0))
  if note(trimmed, 'LTRIM').err then return end
  note(redis.pcall('LPUSH', history.key, unpack(entries, first)), 'LPUSH')
  if history.age then note(redis.pcall('PEXPIRE', history.key, history.age), 'PEXPIRE') end
end

-- Writes the new records; the newest record of each history is always kept. A history is trimmed
-- first, so that it does not grow if Redis refuses to trim it.
local function write_history()
  for _, history in ipairs(histories) do
    if #history.entries > 0 then write(history) end
  end
end

-- Keeps the record of the run that caused a quarantine or a stall, as long as that lasts.
-- `record`: a JSON object. `event`: the same without log output, for lists with many kept records.
-- `lasts(item)`: whether an item is quarantined or stalled. Examines 8 of the other records, and
-- deletes those whose cause has ended.
local function keep_record(item, record, event, lasts)
  if record == '' then return end
  local key = key_prefix .. 'kept-runs' .. own
  local others = redis.pcall('HRANDFIELD', key, 8)
  for _, other in ipairs(note(others, 'HRANDFIELD')) do
    if not lasts(other) then redis.pcall('HDEL', key, other) end
  end
  local count = redis.pcall('HLEN', key)
  if type(count) == 'number' and count >= 1000 then record = event end
  if record == '' then return end
  read_time()
  note(redis.pcall('HSET', key, item, time_member .. string.sub(record, 2)), 'HSET')
end
