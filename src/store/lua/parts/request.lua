-- Record of a request, so that a repetition within one hour changes nothing. Defined by the including
-- script:
--   request  {key of the record, or "": none; hash of the request; data of the caller}
-- A script that includes this part replies {status, results, data}:
--   "written"  the request is carried out
--   "again"    it was carried out before; results and data are those of that call
--   "other"    the record is of a request with another hash; nothing was changed

-- Returns the reply if there is a record.
local function recorded()
  local found = request[1] ~= '' and redis.call('GET', request[1])
  if not found then return end
  local hash, results, data = string.match(found, '^(%x*) (%d*) (.*)$')
  if hash ~= request[2] then return {'other', '', ''} end
  return {'again', results, data}
end

-- Called before all other changes, so that nothing is changed if Redis refuses the record.
local function record(results)
  if request[1] == '' then return end
  redis.call('SET', request[1], request[2] .. ' ' .. results .. ' ' .. request[3], 'PX', 3600000)
end
-- Called if Redis refuses a later change.
local function unrecord()
  if request[1] ~= '' then redis.pcall('DEL', request[1]) end
end
