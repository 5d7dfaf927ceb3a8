-- Message that items of a circular list are free. It has the positions of up to 16 items, so that a
-- host need not scan a long list for them.

-- Returns 'free', an empty line, and for each item the number of items to its right; or only 'free',
-- if there are many items, or if the search would block Redis for more than about 20 ms.
local function free_message(list, items)
  local length = redis.call('LLEN', list)
  if #items > 16 or length * #items > 1000000 then return 'free' end
  local numbers = {}
  for i = 1, #items do
    local index = redis.pcall('LPOS', list, items[i])
    if type(index) == 'number' then numbers[#numbers + 1] = length - index - 1 end
  end
  return #numbers > 0 and 'free\n\n' .. table.concat(numbers, ' ') or 'free'
end
