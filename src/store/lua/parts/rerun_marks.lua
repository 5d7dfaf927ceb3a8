-- Marks of items that must run again (rerun.lua): the value of the lock of a running item, or "" of an
-- item without a run. The settlement of the run with that lock deletes the mark and frees the item. No
-- settlement delays an item with the mark "": its run started before the mark. A claim deletes the mark
-- of an item, since the run that it starts is later than the mark.
-- Defined by the including script:
--   reruns  the hash `P:reruns`

-- Returns whether a key exists, and whether there may be marks. EXISTS counts a key each time that it
-- is named, so one command is enough. A refusal counts as existing.
local function exists_and_marks(key)
  local count = redis.pcall('EXISTS', key, reruns, reruns)
  if type(count) ~= 'number' then return true, true end
  return count % 2 == 1, count > 1
end
