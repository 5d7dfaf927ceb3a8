-- Adds the record of a run that its host has not settled (parts/history.lua, parts/json_bytes.lua).

-- Returns the host in the value of a lease, "run:<host>:<pid>:<run id>"; nil: it has another form.
local function host_of(run) return run and string.match(run, '^run:(.*):[%d.]+:%w*$') end

-- Returns the reason for operators.
local function reason_of(run)
  local host = host_of(run)
  return host and 'interrupted: host ' .. host .. ' died' or 'its lease expired'
end

-- `run`: value of the lease; nil: there was none. `most_bytes`: maximum bytes of an item in the
-- history. `attempt`: nil if it is not known. `more`: further members, each after a comma. `length`:
-- that of the whole item, if `item` is only its start. Returns the record without `more`. Writes
-- nothing if the host has written a record of this run, since a host that lost its lease is not dead.
local function enter_interrupted(run, item, most_bytes, attempt, why, more, limits, length)
  local host = host_of(run)
  length = length or #item
  local event = '{"type":"end",' .. json_bytes('list', list_name) .. ','
    .. json_bytes('run', run and string.sub(run, -26) or '') .. ','
    .. json_bytes('item', beginning(item, most_bytes))
    .. (length > most_bytes and ',"item_length":' .. length or '')
    .. (host and ',' .. json_bytes('host', host) or '')
    .. string.format(',"time_ms":%.0f,"outcome":"lost",', now_ms)
    .. (attempt and '"attempt":' .. attempt .. ',' or '') .. json_bytes('reason', why) .. '}'
  if not (run and noted(string.sub(run, -26), limits)) then enter(event, more, limits) end
  return event
end
