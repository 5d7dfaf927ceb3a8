-- Takes claims back. Before this stand parts/feed_job.lua, parts/history.lua and now_ms, and
--   ARGV 4, 5  finished runs kept; 0: none; how much of an id the history has

local queued = false

-- "run:<host>:<pid>:<run id>"
local function host_of(run) return string.match(run, '^run:(.*):%d+:%w*$') end

-- Counted as a failure; the one that brings the cancels to `most` stalls it. `run`: the value of its
-- lease, nil: it had none. `why`: for people.
local function take_back(id, lease, most, run, why)
  local cancels = tonumber(redis.pcall('HGET', cancelled, id)) or 0
  if tonumber(most) == 0 or cancels + 1 < tonumber(most) then
    cancel(id, lease)
    queued = true
    return false
  end
  stall(id, lease)
  if ARGV[4] ~= '0' then
    local fields = {'outcome', 'lost', 'reason', why, 'ended', string.format('%.0f', now_ms),
      'attempt', cancels + 1, 'stalled', cancels + 1 .. ' failed in a row, the last: ' .. why}
    local host = run and host_of(run)
    if host then
      fields[#fields + 1] = 'host'
      fields[#fields + 1] = host
    end
    enter(run and string.sub(run, -26) or '', id, tonumber(ARGV[5]), fields, #fields, ARGV[4])
  end
  return true
end

local function tell_queued(channel)
  if queued then redis.pcall('PUBLISH', channel, 'queued') end
end
