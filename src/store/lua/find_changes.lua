-- Finds the newest records of changes of an item (record_changes.lua).
--
-- KEYS  1 changes
-- ARGV  1 text that the records of the item contain: '"item":"one"'
--       2 maximum number of records in the reply
-- Reply the records, the newest first

local text, most, found = ARGV[1], tonumber(ARGV[2]), {}
for _, record in ipairs(redis.call('LRANGE', KEYS[1], 0, 999)) do
  if #found == most then break end
  if string.find(record, text, 1, true) then found[#found + 1] = record end
end
return found
