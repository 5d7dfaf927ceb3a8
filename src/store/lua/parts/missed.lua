-- Before this stands
--   timeline  the key

-- Whether a job was set while it was worked on, and came due before that was over: it left the
-- timeline for a queue that it could not enter, and waits for what becomes of the run.
local function has_missed(job, status)
  return string.sub(status, 1, 4) == 'TML:' and not redis.call('ZSCORE', timeline, job)
end
