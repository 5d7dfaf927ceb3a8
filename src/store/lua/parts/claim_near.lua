-- Examines the items near the positions in ARGV[5], before both ends. Only claim.lua uses this part. It
-- defines the list, read() and take(). A rotation moves all items to the left that it does not move to
-- the right end. So each search goes from its position to the left, in 1,024 items
-- together. These items are not moved, and do not count as examined.
if ends and #ARGV[5] > 2 then
  local near = {}
  for number in string.gmatch(string.sub(ARGV[5], 3), '%d+') do
    near[#near + 1] = min(length, length - tonumber(number))
  end
  local limit = most_bytes / 4
  for n = 1, #near do
    local stop, step = near[n], 1
    local last = math.max(0, stop - math.floor(1024 / #near))
    while stop > last and #taken + #parked < want and bytes < limit do
      local from = math.max(last, stop - step)
      take(read(from, stop - from, limit))
      stop, step = from, piece
    end
  end
  locked, group = {}, 1 -- the next delays to expire are at both ends
end
