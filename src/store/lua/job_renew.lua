-- Renews the leases of claimed jobs, each only if this host still holds the claim.
--
-- KEYS  1 slots  2 claims  3 claimed  4… the lease of each job
-- ARGV  1 life of a lease, ms
--       2 "1": the runs hold slots
--       3… for each: the job's ID, the value of its lease (ends with the run ID), "t": set the
--          lease again if it is missing and this host still holds the claim, "n": do not
-- Reply for each 1 renewed, 2 set again, 3 missing, 0 of another holder, 4 refused
-- If no lease could be renewed, the error is the reply.

local claimed = KEYS[3]
local life_ms = tonumber(ARGV[1])
local refusal
-- include parts/feed_time.lua
-- include parts/job_claims.lua

local until_ms = now_ms + life_ms
local function try(...)
  local answer = redis.pcall(...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  if string.find(answer.err, 'WRONGTYPE') then return {} end -- a lease of another client
  refusal = answer
end

local reply, renewed = {}, 0
for i = 4, #KEYS do
  local at = 3 * (i - 4) + 3
  local id, run, key = ARGV[at], ARGV[at + 1], KEYS[i]
  local found = try('GETRANGE', key, 0, #run)
  local noted = try('HGET', KEYS[2], id)
  local score = try('ZSCORE', claimed, id)
  local note = read_note(type(noted) == 'string' and noted or '')
  local ours = note and note.run == run and counts(note, type(score) == 'string' and score)
  local state = 0
  if found == nil or noted == nil or score == nil then
    state = 4
  elseif not ours then
    -- Another client has recovered or ended the claim, or the feed was deleted.
    state = (found == run or found == '') and 3 or 0
  elseif found == run then
    state = try('PEXPIRE', key, life_ms) and 1 or 4
  elseif found == '' and try('EXISTS', key) == 0 then
    state = 3
    if ARGV[at + 2] == 't' then
      local taken = try('SET', key, run, 'PX', life_ms, 'NX')
      if taken then state = 2 elseif taken == nil then state = 4 end
    end
  end
  if state == 1 or state == 2 then
    renewed = renewed + 1
    local mark = note.mark == 'n' and '-' or note.mark
    try('HSET', KEYS[2], id, note_of_claim(note.score, until_ms, mark, run))
    if ARGV[2] == '1' then try('ZADD', KEYS[1], until_ms, string.sub(run, -26)) end
  end
  reply[#reply + 1] = state
end
if refusal and renewed == 0 then return refusal end
if ARGV[2] == '1' then try('PEXPIRE', KEYS[1], math.max(86400000, 2 * life_ms)) end
return reply
