-- Claims up to N free items of a circular list, in one step.
--
-- KEYS  1 list  2 fence  3 failures  4 slots  5 paused  6 quarantined  7 waiting  8 samples
--       9 breaker; none: the list has no breaker
-- ARGV  1 prefix of lock keys ("work:lock:")
--       2 lock value without the run ID ("run:<host>:<pid>:")
--       3 life of a lock, ms
--       4 maximum number of runs in the fleet; 0: no limit
--       5 items of this scan not examined yet; -1: a new scan; -2: only both ends; -2 and numbers,
--         such as "-2 17 400": also the items near these positions, each of which is the number of
--         items to the right of an item that may be free
--       6 maximum number of items to examine in this call
--       7 "1": the permissions of this user have not been checked yet
--       8 items of the list that the caller holds; -1: the caller has seen a free item that its
--         waiter did not claim in time, and claims it regardless of the wait queue
--       9 wake channel
--      10 "1": the caller receives its turn; a caller that does not claims what is free
--      11 maximum number of bytes of items to read; reading stops after the item that reaches it
--      12 number of items to read at first, by what is known of their length
--      13 maximum length of an item that can run; a longer one is quarantined
--      14 maximum length of such an item, and of the reason of a pause, in the reply
--      15 entry in the index of quarantines for such an item
--      16 the largest fencing token of this list that the caller has seen
--      17 prefix of lock keys with the other lock_key ("work:proc:")
--      18… a run ID for each wanted item; quarantined items have the last ones; none: the caller
--          leaves the wait queue, and the next waiter gets its turn
-- Reply {status, items of the scan left, ms until an item may become free or -1, detail;
--        and if items were read:
--        length of the longest, bytes of all, number of quarantined items,
--        start and length of each of those, …
--        item, fencing token, consecutive failures, …}
--       status: "ok"     as many as were wanted; detail is another error of Redis
--               "more"   the scan has not ended: call again
--               "none"   the scan has ended, or the free items are for other waiters; detail is the
--                        length of the list, also for "more"
--               "empty"  there is no item
--               "paused" by an operator; detail is the reason
--               "full"   the fleet limit is reached
--               "breaker" the breaker is open; replaces all others except "more" and "paused";
--                        detail is the reason. With an item, this run is the probe
--       For "none" and "full", a second word of detail means that the caller is in the wait queue
--       now, and is the number of other waiters.
-- The order of the list is the same for all hosts: examined items move to the right end. A scan of
-- the ends moves only items up to the last claimed one. With equal delays, items become free in the
-- order of their claims, and this order is kept. If the items at the left end are due much sooner than
-- most others, further calls of a scan of the whole list read from the right end and move nothing.
-- An item in the index of quarantines is never claimed, whether or not it has a lock, and
-- regardless of its name.
--
-- The wait queue is a sorted set: the lock value without the run ID of each waiter, scored with the
-- time (ms) at which it joined. A waiter receives its turn on a channel with the name of the wake
-- channel, ':' and this value. It has the turn for 250 ms: until then its score is the negative end
-- of that time. While others wait, a caller claims at most its share of the list, or at its turn at
-- least one item. Other free items are announced to the waiters that came first.
-- The next claim removes a waiter that did not claim in its turn. Its host may have died while
-- Redis still has its connection and counts it as a receiver. The claim gives a turn to two waiters
-- for each that it removes, so that a hundred dead waiters delay an item by only seven turns.

-- include parts/claim_results.lua
-- include parts/claim_permissions.lua
-- include parts/notify_next_waiter.lua
local first_run = 18
local own_locks, other_locks, breaker = ARGV[1], ARGV[17], KEYS[9]
local reruns = string.sub(KEYS[2], 1, -6) .. 'reruns'
-- include parts/other_locks.lua
-- include parts/rerun_marks.lua
-- include parts/claim_fast_path.lua
-- include parts/breaker_claim.lua
local open = open_breaker()
local whole = not open and claim_first()
if whole then return whole end

local function min(a, b) if a < b then return a else return b end end
local told = tonumber(ARGV[14])
local pause_ends = redis.call('PTTL', KEYS[5])
if pause_ends ~= -2 then
  redis.pcall('ZREM', KEYS[7], ARGV[2]) -- a paused list has no waiters
  return {'paused', 0, pause_ends, redis.call('GETRANGE', KEYS[5], 0, told - 1)}
end

local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now_ms = math.floor(now_us / 1000)
local want = #ARGV - first_run + 1
local why_open
if open then
  local wait
  wait, why_open = probe_wait(open, now_ms)
  if wait > 0 then
    redis.pcall('ZREM', KEYS[7], ARGV[2]) -- leaves the wait queue, as in a pause
    return {'breaker', 0, wait, why_open}
  end
  want = min(want, 1)
end
local limit = tonumber(ARGV[4])
local room = math.huge
local capped = false

local extent = tonumber(string.match(ARGV[5], '^%S+'))
local line, me = KEYS[7], ARGV[2]
local others, called, place, my_turn = 0, 0, false, false
local next_try = -1 -- ms until the turns that replace unused turns have ended; -1: none
local function tell_others(count) call_from_line(line, ARGV[9], count, 'free', now_ms) end
local in_line = open or redis.pcall('ZCARD', line) -- hosts do not wait for an open breaker
if type(in_line) ~= 'number' then
  line = false -- a key of a wrong type, or a missing permission
elseif in_line > 0 then
  local ended = string.format('(%.0f', -now_ms)
  if redis.call('ZCOUNT', line, ended, '(0') > 0 then
    -- A caller that claims after the end of its turn gets a new turn.
    local rank = want > 0 and redis.call('ZRANK', line, me)
    if rank and rank < redis.call('ZCOUNT', line, '-inf', '(0') then
      redis.call('ZADD', line, -(now_ms + turn_ms), me)
    end
    local unused = redis.call('ZREMRANGEBYSCORE', line, ended, '(0')
    if unused > 0 then
      tell_others(2 * unused)
      next_try = turn_ms + 1
    end
  end
  called = redis.call('ZCOUNT', line, '-inf', '(0')
  others = redis.call('ZCARD', line)
  place = redis.call('ZRANK', line, me)
  if place then
    others = others - 1
    my_turn = place < called or place + called == 0
    if place < called then called = called - 1 end
  end
end
local function leave_line()
  if place then redis.call('ZREM', line, me) end
end
local function stand_in_line()
  if not line or ARGV[10] ~= '1' then return '' end
  if my_turn then leave_line() end
  redis.call('ZADD', line, 'NX', now_ms, me)
  redis.call('PEXPIRE', line, 60000)
  return ' ' .. others
end
if want == 0 then
  leave_line()
  if my_turn and others > 0 then tell_others(1) end
  return {'none', 0, -1, ''}
end

if limit > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now_ms)
  room = limit - redis.call('ZCARD', KEYS[4])
  if room <= 0 then
    local first = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
    local ms = math.max(1, first[2] - now_ms)
    return {open and 'breaker' or 'full', 0, ms, why_open or stand_in_line()}
  end
  if room < want then
    want = room
    capped = true
  end
end

local length = redis.call('LLEN', KEYS[1])
if length == 0 then
  leave_line()
  return {open and 'breaker' or 'empty', 0, -1, why_open or ''}
end

if not proved then
  local refusal = may_not()
  if refusal then return refusal end
end

local two_names, has_marks = exists_and_marks(mark_of(other_locks))
if two_names or not in_use(own_locks) then use_own_name(ARGV[3]) end

local most_bytes = tonumber(ARGV[11])
-- The length of items is unknown before they are read, so fewer are read at once if they are long.
local piece = tonumber(ARGV[12])
local longest, bytes = 0, 0
local prefix = ARGV[1]
local function read(first, count, stop)
  local items, names, n, before = {}, {}, 0, prefix
  local sum, most_long = bytes, longest
  while n < count and sum < stop do
    local got = redis.call('LRANGE', KEYS[1], first + n, first + min(n + piece, count) - 1)
    if #got == 0 then break end
    for i = 1, #got do
      local item = got[i]
      local size = #item
      n = n + 1
      items[n] = item
      names[n] = before .. item
      sum = sum + size
      if size > most_long then most_long = size end
      if sum >= stop then break end
    end
    piece = math.max(1, min(64, math.floor(262144 / (most_long + 1))))
  end
  bytes, longest = sum, most_long
  return items, names
end

-- include parts/claim_share.lua
local for_others, bytes_of_ends = false, 0
if others > 0 and ARGV[10] == '1' then
  local share, free = share_of_caller()
  bytes_of_ends, bytes = bytes, 0
  for_others = share < want
  want = min(want, math.max(share, 0))
  local spared = free - want - called
  if spared > 0 then
    if want > 0 and my_turn then leave_line() end -- rejoins at the end, see stand_in_line()
    tell_others(spared)
  end
  if want == 0 then
    local left = extent
    if left < 0 then left = length end
    return {'none', left, next_try, length .. stand_in_line(), longest, bytes_of_ends, 0}
  end
end

local left = extent
local most = tonumber(ARGV[6])
local ends = left == -2 and length > most
if left < 0 or left > length then left = length end

local taken, parked = {}, {}
local locked = {} -- the first 16
local last_taken = 0
local may_run = {} -- locks of which one may be that of a run
-- Number of items whose locks one command checks, before it tries to lock them. After a locked item,
-- the next ones are probably locked too.
local group = extent >= 0 and 256 or 1
local indexed = redis.pcall('HLEN', KEYS[6])
indexed = type(indexed) == 'number' and indexed > 0
local longest_taken = tonumber(ARGV[13])
-- include parts/claim_take.lua

-- include parts/claim_middle.lua

local looked = 0
local turned = 0
local seen_at_left = {}
if extent >= 0 and is_in_order() then
  -- These items are not moved, so the scan starts at a different one each time.
  piece = min(piece, tonumber(ARGV[12]))
  local step = 1 + now_us % piece
  if left == length then examine_before(1 + now_us % length, most, most_bytes / 2, step) end
  if #taken + #parked < want then
    if bytes >= most_bytes then step = 1 end -- at least one item, so that the scan ends
    left = examine_before(left, most, math.max(most_bytes, bytes + 1), step)
  end
  if #taken + #parked == want then left = math.max(0, left - searched) end
else
  local at_right = 0
  if ends then at_right = math.floor(most / 4) end
  local at_left = min(left, most - at_right)
  local left_bytes = most_bytes
  if ends then left_bytes = most_bytes * 3 / 4 end
  -- Starts with as many items as are wanted, since most are free as a rule, and reads four times as
  -- many each time. If all items before were locked, reads all at once.
  local chunk = want
  if extent >= 0 then chunk = most end
  while #taken + #parked < want and looked < at_left and bytes < left_bytes do
    last_taken = 0
    local items, names = read(looked, min(chunk, at_left - looked), left_bytes)
    local seen = take(items, names)
    if looked == 0 then
      seen_at_left = items
    else
      for i = 1, seen do seen_at_left[looked + i] = items[i] end
    end
    if last_taken > 0 then turned = looked + last_taken end
    looked = looked + seen
    chunk = chunk * 4
  end
  if ends then
    if #taken + #parked < want then
      -- These items are not moved either.
      local from = now_us % at_right
      local first = length - at_right
      looked = looked + take(read(first + from, at_right - from, most_bytes))
      if from > 0 and #taken + #parked < want then
        looked = looked + take(read(first, from, most_bytes))
      end
    end
    left = left - looked
  elseif extent >= 0 or looked == length or #taken + #parked == want or not is_in_order() then
    turned = looked
    left = left - looked
  end -- otherwise the next call does not start at the left end
end

-- A rotation by the whole length changes nothing.
if turned == 1 and length > 1 then
  redis.call('LMOVE', KEYS[1], KEYS[1], 'LEFT', 'RIGHT')
elseif turned > 1 and turned < length then
  -- In this order, no item is lost or duplicated if Redis refuses one of the commands.
  redis.call('LTRIM', KEYS[1], 0, -1)
  redis.call('RPUSH', KEYS[1], unpack(seen_at_left, 1, turned))
  redis.call('LTRIM', KEYS[1], turned, -1)
end

local reply = {'ok', left, -1, '', longest, bytes + bytes_of_ends, #parked}
for i = 1, #parked do
  reply[#reply + 1] = string.sub(parked[i], 1, told)
  reply[#reply + 1] = #parked[i]
end
if #taken < want then
  local cut = #taken > 0 and (bytes >= most_bytes or #parked > 0)
  if left > 0 and (cut or not ends) then reply[1] = 'more' else reply[1] = 'none' end
  local hints = min(#locked, 4)
  if reply[1] == 'none' then hints = #locked end
  reply[4] = tostring(length)
  for i = 1, hints do
    local ttl = redis.call('PTTL', locked[i]) + 1 -- Redis rounds down
    if ttl > 0 and (reply[3] < 0 or ttl < reply[3]) then reply[3] = ttl end
    if reply[3] >= 0 and reply[3] < 20 then break end -- soon enough
  end
elseif for_others then
  reply[1], reply[4] = 'none', tostring(length)
elseif capped then
  reply[1] = 'full'
end
-- Returns whether a settlement by another host will be announced.
local function is_any_running()
  for i = 1, #may_run do
    if redis.pcall('GETRANGE', may_run[i], '0', '3') == 'run:' then return true end
  end
  return false
end
if reply[1] == 'none' or reply[1] == 'full' then
  local soon = reply[3] >= 0 and reply[3] < 5000
  if others > 0 or soon or capped or is_any_running() then
    reply[4] = reply[4] .. stand_in_line()
  else
    leave_line() -- the caller has all items, or none is expected
  end
  -- A waiter that is not first receives a message before an item is free for it.
  if others > 0 and redis.call('ZRANK', line, me) ~= 0 then reply[3] = next_try end
elseif reply[1] == 'ok' then
  leave_line()
end

if #taken > 0 then
  if has_marks then
    claim_marks(taken, function(i) return ARGV[2] .. ARGV[first_run + i - 1] end)
  end
  note_visits(KEYS[8], taken, now_ms)
  local fence = next_fence(KEYS[2], #taken, now_us, ARGV[16])
  local failures, unknown = failures_in_a_row(KEYS[3], taken)
  if unknown and reply[1] == 'ok' then reply[4] = unknown end
  local runs = {}
  for i = 1, #taken do
    reply[#reply + 1] = taken[i]
    reply[#reply + 1] = fence + i - 1
    reply[#reply + 1] = failures[i]
    runs[i] = ARGV[first_run + i - 1]
  end
  if limit > 0 then take_places(KEYS[4], runs, now_ms + ARGV[3], ARGV[3]) end
  if open then
    begin_probe(own_locks .. taken[1], ARGV[2] .. runs[1])
    reply[3] = tonumber(ARGV[3])
  end
end
if open and reply[1] ~= 'more' then reply[1], reply[2], reply[4] = 'breaker', 0, why_open end
return reply
