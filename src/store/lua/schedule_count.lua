-- Counts the jobs of a schedule whose status is BAD or DIE, a part of the statuses at a time.
--
-- KEYS  1 statuses
-- ARGV  1 cursor: "0", or that of the last reply  2 approximate number of jobs to examine
--       3… codes of queues whose jobs are not counted
-- Reply {cursor of the next call, 0 after the last job, number of examined jobs,
--        number of these that count, with status BAD, with status DIE, and with any status}

local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local others = {}
for i = 3, #ARGV do others[ARGV[i]] = true end
local function is_counted(job) return #ARGV == 2 or not others[string.match(job, '[^:]*$')] end
local bad, died, all = 0, 0, 0
for i = 2, #page[2], 2 do
  local event = is_counted(page[2][i - 1]) and string.sub(page[2][i], 1, 4)
  if event then all = all + 1 end
  if event == 'BAD:' then
    bad = bad + 1
  elseif event == 'DIE:' then
    died = died + 1
  end
end
return {page[1], #page[2] / 2, bad, died, all}
