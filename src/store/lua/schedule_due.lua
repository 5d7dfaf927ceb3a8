-- Counts the due jobs in some queues of a schedule, among the jobs that have been due for longest.
--
-- KEYS  1 timeline
-- ARGV  1 time, s  2 maximum number of jobs to examine
--       3 "only": jobs in the queues of these codes; "without": jobs in all other queues  4… codes
-- Reply {number of due jobs in all queues, number of examined jobs, number of these that count}

local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
local codes, only = {}, ARGV[3] == 'only'
for i = 4, #ARGV do codes[ARGV[i]] = true end
local counted = 0
for _, job in ipairs(due) do
  if (codes[string.match(job, '[^:]*$')] or false) == only then counted = counted + 1 end
end
return {redis.call('ZCOUNT', KEYS[1], '-inf', ARGV[1]), #due, counted}
