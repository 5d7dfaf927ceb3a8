-- Defined by the including script:
--   timeline  the key

-- Returns whether a job was set while it was running and became due before its run ended. Then it
-- left the timeline for a queue in which it could not be enqueued, and must be enqueued at the end
-- of the run.
local function has_missed(job, status)
  return string.sub(status, 1, 4) == 'TML:' and not redis.call('ZSCORE', timeline, job)
end
