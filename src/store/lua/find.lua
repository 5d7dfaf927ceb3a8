-- Finds named items in a part of a circular list.
--
-- KEYS  1 list
-- ARGV  1 to 4: the part (parts/named_items.lua)  5… names
-- Reply {index of the part's first item, number of items read, 1 if this is all of the part,
--        {fingerprint of an item without a name, …}; number of each name that is in the part, …}

local first_name = 5
-- include parts/list_part.lua
-- include parts/named_items.lua
for i = 1, #found do reply[#reply + 1] = found[i][1] end
return reply
