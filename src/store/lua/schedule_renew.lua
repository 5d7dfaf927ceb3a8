-- Renews the keys of running jobs, each only if this host still holds it.
--
-- KEYS  1 slots  2 claims  3… the key of each job
-- ARGV  1 life of a key, ms
--       2 "1": the runs hold slots
--       3… for each: the job, its tag, its run ID, "t": set the key again if it is missing, "n": do
--          not
-- Reply for each 1 renewed, 2 set again, 3 missing, 0 of another holder, 4 refused
-- A key is set again only while the claim is recorded with this tag: otherwise the job was returned
-- to its queue, and another host may have run it. If no key could be renewed, the error is the
-- reply.

local time = redis.call('TIME')
local life_ms = tonumber(ARGV[1])
local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + life_ms
local refusal
local function try(...)
  local answer = redis.pcall(...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  if string.find(answer.err, 'WRONGTYPE') then return {} end -- a key of another client
  refusal = answer
end

local reply, renewed = {}, 0
for i = 3, #KEYS do
  local at = 4 * (i - 3) + 3
  local job, tag, key = ARGV[at], ARGV[at + 1], KEYS[i]
  local found = try('GETRANGE', key, 0, #tag)
  local note = try('HGET', KEYS[2], job)
  local read, entry = pcall(cjson.decode, type(note) == 'string' and note or '')
  local noted = read and type(entry) == 'table' and entry.tag == tag
  local state = 0
  if found == nil or note == nil then
    state = 4
  elseif found == tag then
    state = try('PEXPIRE', key, life_ms) and 1 or 4
  elseif found == '' and try('EXISTS', key) == 0 then
    state = 3
    if ARGV[at + 3] == 't' and noted then
      local taken = try('SET', key, tag, 'PX', life_ms, 'NX')
      if taken then state = 2 elseif taken == nil then state = 4 end
    end
  end
  if state == 1 or state == 2 then
    renewed = renewed + 1
    if noted then
      entry['until'] = until_ms
      try('HSET', KEYS[2], job, cjson.encode(entry))
    end
    if ARGV[2] == '1' then try('ZADD', KEYS[1], until_ms, ARGV[at + 2]) end
  end
  reply[#reply + 1] = state
end
if refusal and renewed == 0 then return refusal end
if ARGV[2] == '1' then try('PEXPIRE', KEYS[1], math.max(86400000, 2 * life_ms)) end
return reply
