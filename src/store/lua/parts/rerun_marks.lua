-- Marks of items that must run again (rerun.lua):
--   the value of the lock of the run that the item had at the mark, or of another program
--   ""                   the item had no run at the mark
--   "claimed:" and the value of a lock: a claim has locked the item since
-- The settlement of the run with that lock deletes the mark. If the run is older than the mark, it also
-- frees the item. If the claim is handed back, no run has started since the mark, which becomes "". No
-- other settlement delays the item: its run started before the mark, or before a later claim.
-- Defined by the including script:
--   reruns  the hash `P:reruns`

-- Returns whether a key exists, and whether there may be marks. EXISTS counts a key each time that it
-- is named, so one command is enough. A refusal counts as existing.
local function exists_and_marks(key)
  local count = redis.pcall('EXISTS', key, reruns, reruns)
  if type(count) ~= 'number' then return true, true end
  return count % 2 == 1, count > 1
end

-- Writes to the marks of items that a claim has locked them. `value_of(i)`: value of the lock of an
-- item.
local function claim_marks(items, value_of)
  local marks, fields = redis.pcall('HMGET', reruns, unpack(items)), {}
  if marks.err then return end
  for i = 1, #items do
    if marks[i] then
      fields[#fields + 1] = items[i]
      fields[#fields + 1] = 'claimed:' .. value_of(i)
    end
  end
  if #fields > 0 then redis.pcall('HSET', reruns, unpack(fields)) end
end
