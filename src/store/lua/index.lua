-- A part of the index of quarantines, cut before it is a reply.
--
-- KEYS  1 quarantined
-- ARGV  1 where to go on: a cursor  2 about how many entries are looked at
--       3 items that are longer are left out  4 how much is told of each entry
-- Reply {the next cursor, an item, what is said of it, …}

-- Entries can't be measured before they are read, so few are read at first.
local cursor, looked, bytes, count = ARGV[1], 0, 0, 4
local reply = {''}
repeat
  local found = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', count)
  cursor = found[1]
  local fields = found[2]
  for i = 1, #fields, 2 do
    local item, note = fields[i], fields[i + 1]
    bytes = bytes + #item + #note
    if #item <= tonumber(ARGV[3]) then
      reply[#reply + 1] = item
      reply[#reply + 1] = string.sub(note, 1, ARGV[4])
    end
  end
  looked = looked + #fields / 2
  count = count * 2
until cursor == '0' or looked >= tonumber(ARGV[2]) or bytes >= 8388608
reply[1] = cursor
return reply
