-- What is noted of a run that ends, beside its lock. Protected: it must not keep the lock from being
-- settled. Before this stands
--   runs_key  the history

local refused = '' -- the last thing that Redis refused of it
local function note(answer, what)
  if type(answer) == 'table' and answer.err then refused = what .. ': ' .. answer.err end
  return answer
end

-- Whether the history has a run, among the last ones.
local known
local function noted(id)
  if not known then
    known = {}
    local last = redis.pcall('XREVRANGE', runs_key, '+', '-', 'COUNT', 100)
    for _, entry in ipairs(note(last, 'XREVRANGE')) do
      for i = 1, #entry[2], 2 do
        if entry[2][i] == 'run' then known[entry[2][i + 1]] = true end
      end
    end
  end
  return known[id]
end

-- An entry: the beginning of a long item, which doesn't end within a character of UTF-8, and the
-- first `count` of `fields`, which has room for two more. `most`: the history is trimmed to that.
local function enter(id, item, shown, fields, count, most)
  if #item > shown then
    fields[count + 1], fields[count + 2] = 'item_length', #item
    count = count + 2
    local last = shown
    while last > shown - 3 and string.find(item, '^[\128-\191]', last + 1) do last = last - 1 end
    item = string.sub(item, 1, last)
  end
  if not most then
    note(redis.pcall('XADD', runs_key, '*', 'run', id, 'item', item, unpack(fields, 1, count)),
      'XADD')
  else
    -- To the number, but where it is so large that whole nodes of a stream don't matter.
    local how = tonumber(most) > 10000 and '~' or '='
    note(redis.pcall('XADD', runs_key, 'MAXLEN', how, most, '*', 'run', id, 'item', item,
      unpack(fields, 1, count)), 'XADD')
  end
end
