-- Requests that a job is stalled at the end of its run, unless it then leaves the feed.
--
-- KEYS  1 claims  2 claimed
-- ARGV  1 the job's ID  2 its run
-- Reply 1, or 0: that run does not hold the job

local claimed = KEYS[2]
-- include parts/job_claims.lua

local note = read_note(redis.call('HGET', KEYS[1], ARGV[1]))
if not counts(note, redis.call('ZSCORE', claimed, ARGV[1]))
  or string.sub(note.run, -#ARGV[2]) ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], note_of_claim(note.score, note.until_ms, 'q', note.run))
return 1
