-- Jitter of recurrence rules. Defined by the including script:
--   jitters  the key

-- Returns how many seconds a job is due after a time of its recurrence rule: a hash of both, below the jitter
-- of the job, at most 7 days. It is the same in each call.
local function jitter_of(job, at_s)
  local most = redis.pcall('HGET', jitters, job)
  most = type(most) == 'string' and tonumber(most)
  if not most or not (most >= 1000 and most <= 604800000) then return 0 end
  local hash, text = 1, string.sub(job, 1, 4096) .. ' ' .. at_s
  for i = 1, #text do hash = (hash + string.byte(text, i)) * 48271 % 2147483647 end
  return hash % math.floor(most / 1000)
end
