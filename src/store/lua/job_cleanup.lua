-- Removes a part of the records of jobs that no longer exist. They remain if a client finishes a
-- job, or cancels or stalls a job that was retracted between two steps of the client.
--
-- KEYS  1 items  2 records to examine: stalled, cancelled, published or keep
-- ARGV  1 cursor, 0 at first  2 approximate number of records to examine
-- Reply {cursor of the next call, 0 after the last, number of removed records}

-- include parts/types.lua

local commands = {set = {'SSCAN', 1, 'SREM'}, hash = {'HSCAN', 2, 'HDEL'}, zset = {'ZSCAN', 2, 'ZREM'}}
local kind = redis.call('TYPE', KEYS[2]).ok
local wrong = wrong_type(KEYS[1], 'hash') or not commands[kind] and wrong_type(KEYS[2], 'set')
if wrong then return wrong end
if kind == 'none' then return {'0', 0} end
local scan, words, remove = unpack(commands[kind])
local page = redis.call(scan, KEYS[2], ARGV[1], 'COUNT', ARGV[2])
local removed = 0
for i = 1, #page[2], words do
  local id = page[2][i]
  if redis.call('HEXISTS', KEYS[1], id) == 0 then
    removed = removed + redis.call(remove, KEYS[2], id)
  end
end
return {page[1], removed}
