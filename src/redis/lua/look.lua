-- Whether a claim is worth it: for many lists in which nothing was free, in one call.
--
-- KEYS  a list each
-- ARGV  for each list in turn:
--       1 what stands before an item in the name of its lock ("work:lock:")
--       2 its length when all of it was looked at
--       3 where to look now: an index
--       4 how many items from there
-- Reply 1 for each list that has another length, or a free item where we looked; else 0.

local reply = {}
local names = {}
local owners = {}
for k = 1, #KEYS do
  local at = (k - 1) * 4
  local length = redis.call('LLEN', KEYS[k])
  reply[k] = 0
  if length ~= tonumber(ARGV[at + 2]) then
    reply[k] = 1
  else
    local first = tonumber(ARGV[at + 3])
    local items = redis.call('LRANGE', KEYS[k], first, first + ARGV[at + 4] - 1)
    for i = 1, #items do
      names[#names + 1] = ARGV[at + 1] .. items[i]
      owners[#names] = k
    end
  end
end

-- All are locked, as a rule, and one command says so.
if #names > 0 and redis.call('EXISTS', unpack(names)) < #names then
  for i = 1, #names do
    if redis.call('EXISTS', names[i]) == 0 then reply[owners[i]] = 1 end
  end
end
return reply
