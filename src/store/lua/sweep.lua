-- Deletes failures, quarantines and marks to run again of items that are no longer in their list, and
-- finds lists with interrupted runs. Checks a part of the entries, chosen at random, so that no host
-- must store its progress. Entries of an empty list are kept: its items are often deleted and added
-- again at once.
--
-- KEYS  for each list: list, failures, quarantined
-- ARGV  1 maximum number of items of lists to compare in this call: a search takes time in
--         proportion to the length of its list
--       then for each list: prefix of lock keys, and the same with the other lock_key
-- Reply {number of lists examined, number of entries deleted, position of each list that has an
--       interrupted run (recover.lua), from 1…}

local budget = tonumber(ARGV[1])
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
-- include parts/recorded_claim.lua
local forgotten = 0

local function sweep(list, key, prefixes)
  local size = redis.pcall('HLEN', key)
  if size == 0 then return end
  local length = redis.pcall('LLEN', list)
  -- A key of a wrong type is of another program.
  if type(length) ~= 'number' or type(size) ~= 'number' or length * size == 0 then return end
  local cost = math.max(1, length)
  local most = math.max(1, math.min(64, math.floor(budget / cost)))
  for _, item in ipairs(redis.call('HRANDFIELD', key, most)) do
    budget = budget - cost
    if not redis.call('LPOS', list, item) then
      for _, prefix in ipairs(prefixes) do
        local found = redis.pcall('GETRANGE', prefix .. item, 0, 10)
        if found == 'quarantine:' then
          redis.call('DEL', prefix .. item)
        end
      end
      redis.call('HDEL', key, item)
      forgotten = forgotten + 1
    end
  end
end

local function has_ended_run(claims, prefixes)
  local found = redis.pcall('HRANDFIELD', claims, 64, 'WITHVALUES')
  if found.err or #found == 0 then return end
  redis.pcall('PEXPIRE', claims, 604800000)
  for i = 1, #found, 2 do
    local claim = read_claim(found[i + 1])
    if not claim or claim.missing_ms > 0 and claim.ended then return true end
    if claim.missing_ms == 0 and not is_held(claim, found[i], prefixes[1], prefixes[2]) then
      return true
    end
  end
end

local lists = #KEYS / 3
local reply = {lists, 0}
for k = 1, lists do
  local list, failures, quarantined = KEYS[3 * k - 2], KEYS[3 * k - 1], KEYS[3 * k]
  local own = string.sub(failures, 1, -9)
  local reruns, claims = own .. 'reruns', own .. 'claims'
  -- Most lists have none of these keys. Not a number: a permission is missing.
  local found = redis.pcall('EXISTS', failures, reruns, quarantined, claims)
  if found ~= 0 then
    sweep(list, failures, {})
    sweep(list, reruns, {})
    local prefixes = {ARGV[2 * k], ARGV[2 * k + 1]}
    sweep(list, quarantined, prefixes)
    if has_ended_run(claims, prefixes) then reply[#reply + 1] = k end
  end
  reply[1] = k
  if budget <= 0 then break end
end
reply[2] = forgotten
return reply
