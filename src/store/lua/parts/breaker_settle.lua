-- Breaker of a list at the settlement of runs. Needs parts/history.lua. Protected calls: an error
-- must not prevent the settlement. Each list with a breaker has a hash `P:breaker`:
--   window     its last runs, the oldest first: run ID, and "+" succeeded or "-" failed
--   item:<id>  for each of these runs that failed: "q" if it quarantined its item, else "f"; then
--              the item. Missing if the item is longer than 64 KiB and was not quarantined
-- and while the breaker is open:
--   since      ms
--   probe      time of the next probe, ms
--   pause      pause before the next probe, ms
--   failed     "16 of 20"
--   reason     of the last failure
--   lock, lease  key and value of the lock of the last probe
-- Limits of a breaker: failures that open it, runs of the window, first and largest pause in ms:
-- "16 20 1000 300000".

local breaker -- nil: not read yet, or the list has none
local entry_size = 27
local function read_breaker(limits)
  local failures, runs, min_ms, max_ms = string.match(limits, '^(%d+) (%d+) (%d+) (%d+)$')
  if not failures then return end
  local key = key_prefix .. 'breaker' .. own
  local found = redis.pcall('HMGET', key, 'window', 'since', 'pause', 'lease')
  if note(found, 'HMGET').err then return end
  breaker = {key = key, failures = tonumber(failures), bytes = runs * entry_size,
    min_ms = tonumber(min_ms), max_ms = tonumber(max_ms), window = found[1] or '',
    is_open = found[2] and true, pause = tonumber(found[3]) or 0, lease = found[4],
    set = {}, forgotten = {}, released = {}}
end

local function has_success() return string.find(breaker.window, '+', 1, true) ~= nil end

local function set_in_breaker(name, value)
  breaker.set[#breaker.set + 1] = name
  breaker.set[#breaker.set + 1] = value
end

-- Adds a run to the window, and removes the oldest ones beyond its size.
local function enter_in_window(id, item, failed, quarantines)
  local window = breaker.window .. id .. (failed and '-' or '+')
  while #window > breaker.bytes do
    if string.byte(window, entry_size) == 45 then
      table.insert(breaker.forgotten, 'item:' .. string.sub(window, 1, entry_size - 1))
    end
    window = string.sub(window, entry_size + 1)
  end
  breaker.window, breaker.changed = window, true
  if failed and (quarantines or #item <= 65536) then
    set_in_breaker('item:' .. id, (quarantines and 'q' or 'f') .. item)
  end
end

-- Plans the next probe after a failure with this message.
local function plan_probe(pause, message)
  read_time()
  local read, event = xpcall(function() return cjson.decode(message) end, function() end)
  local reason = read and type(event) == 'table' and (event.reason or event.outcome)
  breaker.pause, breaker.lease = pause, nil
  set_in_breaker('pause', string.format('%.0f', pause))
  set_in_breaker('probe', string.format('%.0f', now_in_ms + pause))
  if type(reason) == 'string' then
    if #reason > 256 then
      reason = string.gsub(string.sub(reason, 1, 256), '[\192-\255][\128-\191]*$', '')
    end
    set_in_breaker('reason', reason)
  end
  table.insert(breaker.forgotten, 'lock')
  table.insert(breaker.forgotten, 'lease')
end

-- Opens the breaker if the window has enough failures.
local function may_open(message)
  local runs = #breaker.window / entry_size
  local _, failed = string.gsub(breaker.window, '-', '')
  if failed < breaker.failures then return end
  plan_probe(breaker.min_ms, message)
  set_in_breaker('since', string.format('%.0f', now_in_ms))
  set_in_breaker('failed', failed .. ' of ' .. runs)
  breaker.is_open, breaker.opened_by = true, breaker.window
end

-- Enters the end of a run that still held its item. `verdict`: "+" succeeded, "-" failed; any other
-- run is not entered. `quarantines`: whether the run would quarantine its item. `lease`: the value
-- of its lock. Returns the consequence for a run that has not succeeded: "open": its failure does
-- not count, and its item is delayed by the first pause; "spared": its item is not quarantined;
-- nil: none.
local function judge_run(verdict, id, item, quarantines, lease, message)
  if verdict == '+' then
    if breaker.is_open then -- closes it
      breaker.is_open, breaker.closes, breaker.window, breaker.changed = false, true, '', false
      breaker.before, breaker.set, breaker.forgotten = breaker.before or breaker.set, {}, {}
    else
      enter_in_window(id, item, false)
    end
    return
  end
  if breaker.is_open then
    if verdict == '-' and lease == breaker.lease then
      plan_probe(math.min(breaker.pause * 2, math.max(breaker.max_ms, breaker.min_ms)), message)
    end
    return 'open'
  end
  local spared = quarantines and not has_success()
  if verdict == '-' then
    enter_in_window(id, item, true, quarantines and not spared)
    may_open(message)
  end
  return breaker.is_open and 'open' or spared and 'spared' or nil
end

-- Writes the changes. `release(item, id)` is called for each item that a run of the window has
-- quarantined; `reset(item)` for each item of a run of the window that failed.
local function write_breaker(wake, release, reset)
  if not breaker then return end
  local function put(fields)
    if #fields > 0 then note(redis.pcall('HSET', breaker.key, unpack(fields)), 'HSET') end
  end
  if breaker.changed then set_in_breaker('window', breaker.window) end
  put(breaker.before or breaker.set)
  for id in string.gmatch(breaker.opened_by or '', '(%w+)%-') do
    local found = redis.pcall('HMGET', breaker.key, 'item:' .. id)[1]
    if found then
      local item = string.sub(found, 2)
      reset(item)
      if string.sub(found, 1, 1) == 'q' then release(item, id) end
    end
  end
  if breaker.closes then
    note(redis.pcall('DEL', breaker.key), 'DEL')
    put(breaker.set)
    note(redis.pcall('PUBLISH', wake, 'closed'), 'PUBLISH')
  end
  if #breaker.forgotten > 0 then
    note(redis.pcall('HDEL', breaker.key, unpack(breaker.forgotten)), 'HDEL')
  end
end
