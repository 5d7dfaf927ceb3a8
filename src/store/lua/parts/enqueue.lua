-- Enters jobs in their queues, as Redbike does. Before this stand parts/types.lua and
--   statuses  the key
--   work      what stands before the code of a queue in its name: "redbike-work-"
--   now_s     Redis's time

-- What follows the last ':' of a job, or all of it.
local function code_of(job) return string.match(job, '^.*:(.*)$') or job end

-- The set of a queue "A" is named like a queue "A-members", and the key that says that the job "A"
-- is worked on like a queue "A-A".
local function collides(code)
  if code == 'members' or string.sub(code, -8) == '-members' then return true end
  local middle = (#code + 1) / 2
  return #code % 2 == 1 and string.sub(code, middle, middle) == '-'
    and string.sub(code, 1, middle - 1) == string.sub(code, middle + 1)
end

-- Why a job can't be entered, as an error reply.
local function no_queue(job)
  local queue = work .. code_of(job)
  return first_wrong(queue, 'list', queue .. '-members', 'set')
end

-- To look for a job takes time with the length of its queue: one that is asked for often is read.
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

-- The codes that jobs were entered for.
local woken, wakes = {}, {'queued'}

-- At the end for new ones, or at the one that jobs are taken from. False: it is there, or is worked
-- on, and nothing was done. A job that is only in the set of its queue is not there.
local function enqueue(job, at_taking_end)
  local code = code_of(job)
  local queue = work .. code
  local members = queue .. '-members'
  if redis.call('EXISTS', queue .. '-' .. job) == 1 then return false end
  if redis.call('SADD', members, job) == 0 and is_in_queue(queue, job) then return false end
  local push = at_taking_end and 'RPUSH' or 'LPUSH'
  if type(redis.pcall(push, queue, job)) == 'table' then
    -- Without the right to it. Redbike believes the set, and would drop the job as one that is queued.
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

-- Who waits for work hears which queues have some.
local function tell_queued(channel)
  if #wakes > 1 then redis.pcall('PUBLISH', channel, table.concat(wakes, '\n')) end
end
