-- Recovers claims. Needs parts/feed_job.lua, parts/history.lua, parts/json_bytes.lua and now_ms,
-- and
--   ARGV 4, 5  run records kept, and their bytes, "0": none; maximum bytes of an ID in the history

local queued = false

-- "run:<host>:<pid>:<run id>"
local function host_of(run) return string.match(run, '^run:(.*):[%d.]+:%w*$') end

-- Recovers a claim and counts a failure. Stalls the job if the cancels reach `most`. `run`: value
-- of its lease; nil: it had none. `why`: the reason for operators.
local function take_back(id, lease, most, run, why)
  local cancels = tonumber(redis.pcall('HGET', cancelled, id)) or 0
  if tonumber(most) == 0 or cancels + 1 < tonumber(most) then
    cancel(id, lease)
    queued = true
    return false
  end
  stall(id, lease)
  if ARGV[4] ~= '0' then
    local host = run and host_of(run)
    local event = '{"type":"end",' .. json_bytes('list', list_name) .. ','
      .. json_bytes('run', run and string.sub(run, -26) or '') .. ','
      .. json_bytes('item', beginning(id, tonumber(ARGV[5])))
      .. (#id > tonumber(ARGV[5]) and ',"item_length":' .. #id or '')
      .. (host and ',' .. json_bytes('host', host) or '')
      .. string.format(',"time_ms":%.0f,"outcome":"lost","attempt":%d,', now_ms, cancels + 1)
      .. json_bytes('reason', why) .. '}'
    enter(event, ',' .. json_bytes('stalled', cancels + 1 .. ' consecutive failures, the last: ' .. why))
  end
  return true
end

-- Must be called once, after all claims were recovered.
local function tell_queued(channel)
  write_history(ARGV[4])
  if queued then redis.pcall('PUBLISH', channel, 'queued') end
end
