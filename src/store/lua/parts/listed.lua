-- Checks whether items are in a list. A short list is searched. In a long list, a search would
-- block Redis for too long. Defined by the including script:
--   known_listed  a digit for each item: "1" if a pass over the list found it; "": there was no
--                 pass yet
-- `is_listed` is nil if the list is long and there was no pass.
local searched = 3000
local is_listed
if redis.call('LLEN', KEYS[1]) <= searched then
  is_listed = function(_, item) return redis.call('LPOS', KEYS[1], item) ~= false end
elseif known_listed ~= '' then
  is_listed = function(number) return string.sub(known_listed, number, number) == '1' end
end
