-- What is noted of a run that ends, beside its lock. Protected: it must not keep the lock from being
-- settled. Before this stand
--   runs_key  the history: a list of run records, the newest first. Each is a JSON object: the members
--             of the message on the events channel, and more. Before these stands when it came in, by
--             Redis's clock; of records that came in together, in the newest and in each 32nd behind
--             it. Lua looks at each byte of a text that is made anew, so most are made by nobody.
-- The sorted set `ended` has the run ids of these records, and of the record before them. A score is the
-- number of bytes of all records that were ever written, up to and with that one.

local list_name = string.sub(runs_key, 1, -6) -- without ':runs'
local ended_key = string.sub(runs_key, 1, -5) .. 'ended'
local refused = '' -- the last thing that Redis refused of it
local function note(answer, what)
  if type(answer) == 'table' and answer.err then refused = what .. ': ' .. answer.err end
  return answer
end

-- Returns whether the history has the record of a run.
local function noted(id)
  return type(note(redis.pcall('ZSCORE', ended_key, id), 'ZSCORE')) == 'string'
end

local entries, entered = {}, {}
-- `event`: the message. `more`: further members, each with a comma before it.
local function enter(id, event, more)
  entries[#entries + 1] = more == '' and event or string.sub(event, 1, -2) .. more .. '}'
  entered[#entries] = id
end

-- Returns how many of the existing records are kept: at most `most`, and none that begins before `limit`.
-- A record begins at the score of the record before it.
local function kept_before(most, limit)
  if limit <= 0 then return most end
  local ends = note(redis.pcall('ZCOUNT', ended_key, string.format('%.0f', limit), '+inf'), 'ZCOUNT')
  return type(ends) == 'number' and math.min(most, math.max(ends - 1, 0)) or most
end

-- Writes the entered records. `limits`: records kept, and their bytes; the newest record is always kept.
-- The history is trimmed first, so that it does not grow if Redis refuses to trim it.
local function write_history(limits)
  if #entries == 0 then return end
  local most, most_bytes = string.match(limits, '^(%d+) (%d+)$')
  local time = redis.call('TIME')
  local begin = string.format('{"entered_ms":%s%03d,', time[1], math.floor(time[2] / 1000))
  for i = #entries, 1, -32 do entries[i] = begin .. string.sub(entries[i], 2) end

  local newest = note(redis.pcall('ZRANGE', ended_key, -1, -1, 'WITHSCORES'), 'ZRANGE')
  local bytes, scored = tonumber(newest[2]) or 0, {}
  for i = 1, #entries do
    bytes = bytes + #entries[i]
    scored[2 * i - 1], scored[2 * i] = string.format('%.0f', bytes), entered[i]
  end
  local limit = bytes - most_bytes
  local first = math.max(1, #entries - most + 1)
  while first < #entries and scored[2 * first - 1] - #entries[first] < limit do first = first + 1 end
  local kept = 0
  if first == 1 then kept = kept_before(most - #entries, limit) end

  local trimmed = redis.pcall('LTRIM', runs_key, kept == 0 and 1 or 0, math.max(kept - 1, 0))
  if note(trimmed, 'LTRIM').err then return end
  note(redis.pcall('ZREMRANGEBYRANK', ended_key, 0, -2 - kept), 'ZREMRANGEBYRANK')
  note(redis.pcall('LPUSH', runs_key, unpack(entries, first)), 'LPUSH')
  note(redis.pcall('ZADD', ended_key, unpack(scored, 2 * first - 1)), 'ZADD')
end
