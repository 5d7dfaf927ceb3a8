-- What is noted of a run that ends, beside its lock. Protected: it must not keep the lock from being
-- settled. Before this stand
--   runs_key  the history: a list of entries, the newest first. Each is a JSON object: the members of
--             the message on the events channel, and more. Before these stands when it came in, by
--             Redis's clock; of entries that came in together, in the newest and in each 32nd behind
--             it. Lua looks at each byte of a text that is made anew, so most are made by nobody.

local refused = '' -- the last thing that Redis refused of it
local function note(answer, what)
  if type(answer) == 'table' and answer.err then refused = what .. ': ' .. answer.err end
  return answer
end

-- Whether the history has a run, among the last ones.
local known
local function noted(id)
  if not known then
    known = note(redis.pcall('LRANGE', runs_key, 0, 99), 'LRANGE')
    known = type(known) == 'table' and not known.err and table.concat(known, '\n') or ''
  end
  return string.find(known, '"run":"' .. id .. '"', 1, true) ~= nil
end

local entries = {}
-- `event`: the message. `more`: further members, each with a comma before it.
local function enter(event, more)
  entries[#entries + 1] = more == '' and event or string.sub(event, 1, -2) .. more .. '}'
end

-- What was entered; `most` entries are there then. Trimmed before: it must not grow where that is
-- refused.
local function write_history(most)
  if #entries == 0 then return end
  most = tonumber(most)
  local time = redis.call('TIME')
  local begin = string.format('{"entered_ms":%s%03d,', time[1], math.floor(time[2] / 1000))
  for i = #entries, 1, -32 do entries[i] = begin .. string.sub(entries[i], 2) end
  local last = most - #entries - 1
  local trimmed = redis.pcall('LTRIM', runs_key, last < 0 and 1 or 0, math.max(last, 0))
  if note(trimmed, 'LTRIM').err then return end
  note(redis.pcall('LPUSH', runs_key, unpack(entries, math.max(1, #entries - most + 1))), 'LPUSH')
end
