-- Returns the beginning of a lock, which says what it is: a lock of another program may have any length.
-- False: there is no lock.
local function read(lock)
  local found = redis.pcall('GETRANGE', lock, 0, 10)
  if found ~= '' then return found end
  local there = redis.pcall('EXISTS', lock)
  return there ~= 0 and (there == 1 and found or there)
end
