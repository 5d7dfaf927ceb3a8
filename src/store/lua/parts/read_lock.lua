-- Returns the first bytes of a lock's value, which show its type: a lock of another program may be
-- of any length. Returns false if there is no lock.
local function read(lock)
  local found = redis.pcall('GETRANGE', lock, 0, 10)
  if found ~= '' then return found end
  local there = redis.pcall('EXISTS', lock)
  return there ~= 0 and (there == 1 and found or there)
end
