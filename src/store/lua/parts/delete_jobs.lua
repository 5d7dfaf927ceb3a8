-- Deletes a job. Needs schedules, statuses, timeline, failures (keys) and work (prefix of queues).

local function forget(job)
  local queue = work .. code_of(job)
  redis.call('HDEL', statuses, job)
  redis.call('HDEL', schedules, job)
  redis.call('ZREM', timeline, job)
  redis.call('LREM', queue, 0, job)
  redis.call('SREM', queue .. '-members', job)
  redis.pcall('HDEL', failures, job)
end
