-- Checks all permissions that a run needs, so that a claim is refused before it changes anything.
-- Returns an error reply, or nil.
--   KEYS 2, 5  fence, paused    ARGV 1  prefix of lock keys
--   ARGV 4  maximum number of runs in the fleet; 0: no limit
local function may_not()
  local fence, none, lock = KEYS[2], KEYS[5], ARGV[1]
  local limited = ARGV[4] ~= '0'
  -- Redis 7 can check permissions. It raises an error for a command that was renamed or removed.
  local ask = redis.acl_check_cmd
  local function may_all()
    return ask('GET', fence) and ask('SET', fence, '') and ask('RPUSH', fence, '')
      and ask('LTRIM', fence, '0', '-1') and ask('LMOVE', fence, fence, 'LEFT', 'RIGHT')
      and ask('HMGET', fence, '') and ask('PTTL', none) and ask('PEXPIRE', none, '1')
      and ask('DEL', none) and ask('GETRANGE', none, '0', '0') and ask('LPOS', fence, '')
      and ask('HINCRBY', fence, '', '1') and ask('HDEL', fence, '') and ask('HSET', fence, '', '')
      and ask('SET', lock, '') and ask('GETRANGE', lock, '0', '0') and ask('PEXPIRE', lock, '1')
      and ask('DEL', lock) and (not limited or ask('ZADD', fence, '0', '') and ask('ZREM', fence, ''))
  end
  if ask then
    local known, allowed = pcall(may_all)
    if known and allowed then return end
  end
  -- If that fails, and before Redis 7, each command is tried. It is refused because of the type of
  -- its key, or has no effect, since `paused` does not exist.
  local function refused(words)
    local answer = redis.pcall(unpack(words))
    if type(answer) == 'table' and answer.err and not string.find(answer.err, 'WRONGTYPE') then
      return redis.error_reply('NOPERM this user needs the right to ' .. words[1]
        .. ' for circular lists (' .. answer.err .. ')')
    end
  end
  local unread = refused({'GET', fence})
  if unread then return unread end
  local last = redis.pcall('GET', fence)
  if type(last) == 'string' then
    redis.call('SET', fence, last, 'NX')
  else
    local time = redis.call('TIME')
    redis.call('SET', fence, string.format('%.0f', time[1] * 1000000 + time[2]))
  end
  local needed = {{'GETRANGE', lock, 0, 0}, {'RPUSH', fence, ''}, {'LTRIM', fence, 0, -1},
    {'LMOVE', fence, fence, 'LEFT', 'RIGHT'}, {'HMGET', fence, ''}, {'PTTL', none},
    {'PEXPIRE', none, 1}, {'DEL', none}, {'GETRANGE', none, 0, 0},
    {'LPOS', fence, ''}, {'HINCRBY', fence, '', 1}, {'HDEL', fence, ''}, {'HSET', fence, '', ''}}
  if limited then
    needed[#needed + 1] = {'ZADD', fence, 0, ''}
    needed[#needed + 1] = {'ZREM', fence, ''}
  end
  for _, words in ipairs(needed) do
    local refusal = refused(words)
    if refusal then return refusal end
  end
end
