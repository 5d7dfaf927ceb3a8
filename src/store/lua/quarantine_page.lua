-- Returns a part of the index of quarantines, with truncated entries.
--
-- KEYS  1 quarantined
-- ARGV  1 cursor  2 approximate number of entries to examine
--       3 maximum length of an item; longer ones are omitted  4 maximum length of an entry
-- Reply {the next cursor, item, entry, …}

-- The length of entries is unknown before they are read, so the first reads are small.
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
