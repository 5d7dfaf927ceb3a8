-- Finds named items in a part of a list. The arguments of the including script start with
-- ARGV  1 index of the part's first item; below 0: it counts from the end
--       2 number of items of the part
--       3 maximum number of bytes to read; reading stops after the item that reaches it
--       4 number of fingerprints to return: of the last items that have none of the names
-- and end with the names, from `first_name` on.
-- Defines `items`; `first`; `reply`: {index of the part's first item, number of items read, 1 if
-- this is all of the part, {fingerprint, …}}; `found`: for each named item in the part {number of
-- the name, its indexes in `items`, …}. Needs parts/list_part.lua.

local items, first, is_whole =
  list_part(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
local number_of, by_number = {}, {}
for i = first_name, #ARGV do number_of[ARGV[i]] = number_of[ARGV[i]] or i - first_name + 1 end
local found, fingerprints = {}, {}
for i = #items, 1, -1 do
  local item = items[i]
  local number = number_of[item]
  if number then
    if not by_number[number] then
      by_number[number] = {number}
      found[#found + 1] = by_number[number]
    end
    table.insert(by_number[number], i)
  elseif #fingerprints < tonumber(ARGV[4]) then
    fingerprints[#fingerprints + 1] = redis.sha1hex(item)
  end
end
local reply = {first, #items, is_whole and 1 or 0, fingerprints}
