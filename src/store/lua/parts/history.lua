-- Writes run records to the history. Protected calls: an error must not prevent the settlement of
-- the lock. Defined by the including script:
--   runs_key  the history: a list of run records, the newest first. Each is a JSON object: the
--             members of the message on the events channel, and more. The first member is the time
--             at which it was written, by the Redis clock. Of records that were written together,
--             only the newest and each 32nd after it have this member, because Lua hashes each byte
--             of a new string.
-- The share of a record is half of `history_bytes` divided by `history`. If no record exceeds its
-- share, trimming by number also limits the bytes. Otherwise the list `sizes` exists. Each entry is
-- "<bytes> <records> <1 if one record exceeds its share, else 0>", the newest first. Small records
-- share an entry. Needs parts/list_part.lua.

local list_name = string.sub(runs_key, 1, -6) -- without ':runs'
local sizes_key = string.sub(runs_key, 1, -5) .. 'sizes'
local refused = '' -- the last error of Redis
local function note(answer, what)
  if type(answer) == 'table' and answer.err then refused = what .. ': ' .. answer.err end
  return answer
end

-- Returns whether the newest 1,000 records, at most 16 MiB, include the record of a run.
local known
local function noted(id)
  if not known then
    known = {}
    local refusal = note(redis.pcall('LRANGE', runs_key, 1, 0), 'LRANGE').err
    for _, record in ipairs(refusal and {} or list_part(runs_key, 0, 1000, 16777216)) do
      local _, before = string.find(record, '"run":"', 1, true)
      if before then known[string.match(record, '^[^"]*', before + 1)] = true end
    end
  end
  return known[id] == true
end

local entries = {}
-- Adds a run record to write. `event`: the message. `more`: further members, each after a comma.
local function enter(event, more)
  entries[#entries + 1] = more == '' and event or string.sub(event, 1, -2) .. more .. '}'
end

-- Returns the sizes of the existing records: {bytes, records, has a larger one}, …, the newest first.
local function read_sizes(most, most_bytes)
  local sizes = {}
  for _, entry in ipairs(note(redis.pcall('LRANGE', sizes_key, 0, -1), 'LRANGE')) do
    local bytes, records, larger = string.match(entry, '^(%d+) (%d+) (%d)$')
    if not bytes then break end
    sizes[#sizes + 1] = {tonumber(bytes), tonumber(records), larger == '1'}
  end
  if #sizes > 0 or note(redis.pcall('LRANGE', runs_key, 1, 0), 'LRANGE').err then return sizes end
  for _, record in ipairs(list_part(runs_key, 0, most, most_bytes)) do
    sizes[#sizes + 1] = {#record, 1, #record > most_bytes / most / 2}
  end
  return sizes
end

-- Makes room for the new records, by bytes. Returns the first of them that is written, and the
-- number of older records that are kept.
local function make_room(most, most_bytes, bytes, is_large)
  local first = 1
  while first < #entries and (bytes > most_bytes or #entries - first >= most) do
    bytes = bytes - #entries[first]
    first = first + 1
  end
  local own = #entries - first + 1
  local sizes = {{bytes, own, is_large}}
  local kept, sum = 0, bytes
  for _, old in ipairs(first > 1 and {} or read_sizes(most, most_bytes)) do
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

-- Writes the new records. `limits`: records kept, and their bytes; the newest record is always
-- kept. The history is trimmed first, so that it does not grow if Redis refuses to trim it.
local function write_history(limits)
  if #entries == 0 then return end
  local most, most_bytes = string.match(limits, '^(%d+) (%d+)$')
  local time = redis.call('TIME')
  local begin = string.format('{"entered_ms":%s%03d,', time[1], math.floor(time[2] / 1000))
  for i = #entries, 1, -32 do entries[i] = begin .. string.sub(entries[i], 2) end

  local bytes, largest = 0, 0
  for i = 1, #entries do
    local size = #entries[i]
    bytes = bytes + size
    if size > largest then largest = size end
  end
  local first, kept = 1, most - #entries
  local is_large = largest > most_bytes / most / 2
  if is_large or redis.pcall('EXISTS', sizes_key) ~= 0 then
    first, kept = make_room(tonumber(most), tonumber(most_bytes), bytes, is_large)
  elseif kept < 0 then
    first, kept = 1 - kept, 0
  end
  local trimmed = redis.pcall('LTRIM', runs_key, kept == 0 and 1 or 0, math.max(kept - 1, 0))
  if note(trimmed, 'LTRIM').err then return end
  note(redis.pcall('LPUSH', runs_key, unpack(entries, first)), 'LPUSH')
end
