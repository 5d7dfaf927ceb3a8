-- Enqueues jobs in the same way as Redbike. Needs parts/types.lua. Defined by the including script:
--   statuses  the key
--   work      prefix of queues: "redbike-work-"
--   now_s     time of Redis

-- Returns the code of a job: the part after the last ':', or the whole name.
local function code_of(job) return string.match(job, '^.*:(.*)$') or job end

-- Returns whether keys of this code would be keys of another one. The set of a queue "A" has the
-- name of a queue "A-members", and the key of the running job "A" has the name of a queue "A-A".
local function collides(code)
  if code == 'members' or string.sub(code, -8) == '-members' then return true end
  local middle = (#code + 1) / 2
  return #code % 2 == 1 and string.sub(code, middle, middle) == '-'
    and string.sub(code, 1, middle - 1) == string.sub(code, middle + 1)
end

-- Returns an error reply if a job cannot be enqueued.
local function no_queue(job)
  local queue = work .. code_of(job)
  return first_wrong(queue, 'list', queue .. '-members', 'set')
end

-- A search takes time in proportion to the length of the queue, so a queue with many searches is
-- read once.
local asked, queued = {}, {}
local function is_in_queue(queue, job)
  asked[queue] = (asked[queue] or 0) + 1
  if asked[queue] <= 4 then return redis.call('LPOS', queue, job) end
  if not queued[queue] then
    queued[queue] = {}
    for _, each in ipairs(redis.call('LRANGE', queue, 0, -1)) do queued[queue][each] = true end
  end
  return queued[queue][job]
end

-- codes of jobs that were enqueued
local woken, wakes = {}, {'queued'}

-- Enqueues a job at the end for new jobs, or at the end from which jobs are claimed. Returns false
-- if it is queued or running already. A job that is only in the set of its queue is not queued.
local function enqueue(job, at_taking_end)
  local code = code_of(job)
  local queue = work .. code
  local members = queue .. '-members'
  if redis.call('EXISTS', queue .. '-' .. job) == 1 then return false end
  if redis.call('SADD', members, job) == 0 and is_in_queue(queue, job) then return false end
  local push = at_taking_end and 'RPUSH' or 'LPUSH'
  if type(redis.pcall(push, queue, job)) == 'table' then
    -- Without this permission, Redbike would find the job in the set and drop it as queued.
    redis.pcall('SREM', members, job)
    redis.call(push, queue, job)
  end
  redis.call('HSET', statuses, job, 'ENQ:' .. now_s)
  if queued[queue] then queued[queue][job] = true end
  if not woken[code] then
    woken[code] = true
    wakes[#wakes + 1] = code
  end
  return true
end

-- Notifies hosts that wait for jobs which queues have some.
local function tell_queued(channel)
  if #wakes > 1 then redis.pcall('PUBLISH', channel, table.concat(wakes, '\n')) end
end
