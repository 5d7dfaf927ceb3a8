-- A hint for who waits for jobs of a feed: no right is needed for it.
local function tell_waiting(feed)
  redis.pcall('PUBLISH', (feed == '' and '' or feed .. ':') .. 'wake', 'queued')
end
