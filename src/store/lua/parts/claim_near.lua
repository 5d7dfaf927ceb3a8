-- Examines the items near the positions in ARGV[5]. Only claim.lua uses this part. It defines the
-- list, the parts at both ends, read() and take(). An item that is rotated past others only moves to
-- the left, so each search goes from its position to the left, in 1,024 items together. These items
-- are not moved.
if ends and #ARGV[5] > 2 then
  local near = {}
  for number in string.gmatch(string.sub(ARGV[5], 3), '%d+') do
    near[#near + 1] = length - tonumber(number)
  end
  local limit = most_bytes * 5 / 4
  for n = 1, #near do
    local stop = min(near[n], length - at_right)
    local last = math.max(at_left, stop - math.floor(1024 / #near))
    while stop > last and #taken + #parked < want and bytes < limit do
      local from = math.max(last, stop - 256)
      looked = looked + take(read(from, stop - from, limit))
      stop = from
    end
  end
end
