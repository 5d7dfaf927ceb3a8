-- Writes run records of one list of Gearman, and publishes their events.
--
-- KEYS  1 runs
-- ARGV  1 events channel
--       2 "1": this call may have been executed before (its reply was lost)
--       then, for each run:
--          run ID
--          message for the events channel, a JSON object
--          further members of the run record, each after a comma
--          limits of the history (parts/history.lua); "0": no run record
-- Reply the last error of Redis, or ""

local runs_key = KEYS[1]
-- include parts/list_part.lua
local own = ''
-- include parts/history.lua

for at = 3, #ARGV, 4 do
  local id, event, limits = ARGV[at], ARGV[at + 1], ARGV[at + 3]
  if not (ARGV[2] == '1' and limits ~= '0' and noted(id, limits)) then
    if limits ~= '0' then enter(event, ARGV[at + 2], limits) end
    note(redis.pcall('PUBLISH', ARGV[1], event), 'PUBLISH')
  end
end
write_history()
return refused
