-- Unsets a job: removes its schedule and status, and removes it from the timeline and its queue. An
-- active run continues to its end without a next time.
--
-- KEYS  1 schedules  2 statuses  3 timeline  4 failures  5 its queue  6 the set of its queue
--       7 due  8 jitter
-- ARGV  1 prefix of queues  2 the job
-- Reply 1 removed, 0 it did not exist

local schedules, statuses, timeline, failures, work = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1]
local now_s = 0 -- not used, since no job is enqueued
-- include parts/types.lua
-- include parts/enqueue.lua
-- include parts/delete_jobs.lua

local wrong = first_wrong(schedules, 'hash', statuses, 'hash', timeline, 'zset', KEYS[5], 'list',
  KEYS[6], 'set')
if wrong then return wrong end
local job = ARGV[2]
local there = redis.call('HEXISTS', schedules, job) + redis.call('HEXISTS', statuses, job) > 0
  or redis.call('ZSCORE', timeline, job) or redis.call('SISMEMBER', KEYS[6], job) == 1
forget(job)
redis.pcall('HDEL', KEYS[7], job)
redis.pcall('HDEL', KEYS[8], job)
return there and 1 or 0
