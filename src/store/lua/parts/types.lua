-- Returns an error reply that names a key of a wrong type, before the script changes anything.

local function wrong_type(key, wanted)
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= wanted then
    return redis.error_reply('WRONGTYPE the key ' .. string.sub(key, 1, 200) .. ' is a ' .. found
      .. ', not a ' .. wanted .. '; rename or delete it')
  end
end
local function first_wrong(...)
  local words = {...}
  for i = 1, #words, 2 do
    local wrong = wrong_type(words[i], words[i + 1])
    if wrong then return wrong end
  end
end
