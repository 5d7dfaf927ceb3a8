-- Sends a wake-up to hosts that wait for jobs of a feed. Needs no permission.
local function tell_waiting(feed)
  redis.pcall('PUBLISH', (feed == '' and '' or feed .. ':') .. 'wake', 'queued')
end
