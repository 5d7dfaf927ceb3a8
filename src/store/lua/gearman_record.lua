-- Writes run records of one list of Gearman, and publishes their events.
--
-- KEYS  1 runs
-- ARGV  1 events channel
--       2 "1": this call may have been executed before (its reply was lost)
--       3 run records kept, and their bytes, "1000 16777216"; "0": none
--       then, for each run:
--          run ID
--          message for the events channel, a JSON object
--          further members of the run record, each after a comma
-- Reply the last error of Redis, or ""

local runs_key = KEYS[1]
-- include parts/list_part.lua
-- include parts/history.lua

for at = 4, #ARGV, 3 do
  local id, event = ARGV[at], ARGV[at + 1]
  if not (ARGV[2] == '1' and ARGV[3] ~= '0' and noted(id)) then
    if ARGV[3] ~= '0' then enter(event, ARGV[at + 2]) end
    note(redis.pcall('PUBLISH', ARGV[1], event), 'PUBLISH')
  end
end
write_history(ARGV[3])
return refused
