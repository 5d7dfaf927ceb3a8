-- Returns a part of the IDs of jobs, which have no order.
--
-- KEYS  1 items
-- ARGV  1 cursor, 0 at first  2 approximate number of IDs  3 maximum bytes of IDs and items to read
--       4 "1": Redis can return IDs without their items (since 7.4), as far as is known
-- Reply {cursor of the next call, 0: those were the last, "1" or "0": whether it can, id, …}
-- If it cannot, few at a time are read, since the length of items is unknown before they are read.

-- include parts/types.lua

local items = KEYS[1]
local wrong = wrong_type(items, 'hash')
if wrong then return wrong end
local most, left = tonumber(ARGV[2]), tonumber(ARGV[3])
if ARGV[4] == '1' then
  local page = redis.pcall('HSCAN', items, ARGV[1], 'COUNT', most, 'NOVALUES')
  if not page.err then
    local reply = {page[1], '1'}
    for _, id in ipairs(page[2]) do reply[#reply + 1] = id end
    return reply
  end
end
local reply = {ARGV[1], '0'}
repeat
  local page = redis.call('HSCAN', items, reply[1], 'COUNT', 8)
  reply[1] = page[1]
  for i = 1, #page[2], 2 do
    reply[#reply + 1] = page[2][i]
    left = left - #page[2][i] - #page[2][i + 1]
  end
until reply[1] == '0' or #reply > most or left < 0
return reply
