-- Enqueues a job now, regardless of its schedule, in one step.
--
-- KEYS  1 schedules  2 statuses  3 timeline  4 control  5 paused
-- ARGV  1 prefix of queues ("redbike-work-")  2 wake channel  3 the job
-- Reply "entered"
--       "running", "queued"   it is already
--       "halted", "paused"    no host would claim it
--       "unknown"             there is no such job
--       "bad"                 a key of its code would be a key of another code, see collides()

local schedules, statuses, timeline, work = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local job = ARGV[3]
local now_s = redis.call('TIME')[1]
-- include parts/types.lua
-- include parts/enqueue.lua

local wrong = first_wrong(schedules, 'hash', statuses, 'hash', timeline, 'zset', KEYS[4], 'string')
if wrong then return wrong end
if redis.call('HEXISTS', schedules, job) == 0 and redis.call('HEXISTS', statuses, job) == 0
  and not redis.call('ZSCORE', timeline, job) then return 'unknown' end
local code = code_of(job)
if collides(code) then return 'bad' end
wrong = no_queue(job)
if wrong then return wrong end
local queue = work .. code
if redis.call('EXISTS', queue .. '-' .. job) == 1 then return 'running' end
if redis.call('GET', KEYS[4]) == 'HALT' then return 'halted' end
if redis.call('EXISTS', KEYS[5]) == 1 then return 'paused' end
if redis.call('LPOS', queue, job) then return 'queued' end
-- The job leaves the timeline last: without permission for its queue, it stays there.
enqueue(job)
redis.call('ZREM', timeline, job)
tell_queued(ARGV[2])
return 'entered'
