-- Recovers claims. Needs parts/feed_job.lua, parts/job_reruns.lua, parts/history.lua, parts/json_bytes.lua,
-- parts/interrupted.lua and now_ms, and
--   ARGV 4, 5  limits of the history (parts/history.lua), "0": none; maximum bytes of an ID in the
--              history

local queued = false

-- Recovers a claim and counts a failure. Stalls the job if the cancels reach `most`. `run`: value
-- of its lease; nil: it had none. `why`: the reason for operators. A run of w8y gets a record.
local function take_back(id, lease, most, run, why)
  local failures = (tonumber(redis.pcall('HGET', cancelled, id)) or 0) + 1
  local stalls = tonumber(most) ~= 0 and failures >= tonumber(most)
  if stalls then
    stall(id, lease)
    write_cause(id, lease, run and string.sub(run, -26) or '', function()
      return failures .. ' consecutive failures, the last: ' .. why
    end)
  else
    cancel(id, lease)
    queued = true
  end
  forget_reruns(id)
  if ARGV[4] ~= '0' and (run or stalls) then
    local count = failures == 1 and '1 failure: ' or failures .. ' consecutive failures, the last: '
    local more = stalls and ',' .. json_bytes('stalled', count .. why) or ''
    local event = enter_interrupted(run, id, tonumber(ARGV[5]), failures, why, more, ARGV[4])
    if stalls then
      keep_record(id, string.sub(event, 1, -2) .. more .. '}', event,
        function(other) return redis.pcall('SISMEMBER', stalled, other) == 1 end)
    end
  end
end

-- Must be called once, after all claims were recovered.
local function tell_queued(channel)
  write_history()
  if queued then redis.pcall('PUBLISH', channel, 'queued') end
end
