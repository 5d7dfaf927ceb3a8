-- Jobs that were put again while they were claimed (job_put.lua). The job has its new payload at
-- once, because its claim has read the old one. It must stay in the feed when this claim finishes it.
-- Two hashes have an entry for it, and a claim that starts later makes the entry void:
--   F:rerun-claims  ID → "SCORE FINISHES": score of the claim, and feed.finishes:F at the put
--   F:reruns        ID → "KEEP_MS PAYLOAD": for a finish by another client, which deletes the payload;
--                   without a time if its result is not kept
-- Defined by the including script:
--   key_prefix  "F:", or "" for the feed ""
local reruns, rerun_claims = key_prefix .. 'reruns', key_prefix .. 'rerun-claims'

-- Returns whether an entry is of the claim with this score.
local function is_rerun_of(entry, score)
  return entry and score and string.match(entry, '^%S+') == score
end
-- Must be called after the claim has ended: if Redis refuses the end, the job must still stay in the
-- feed when the claim finishes it.
local function forget_reruns(...)
  redis.pcall('HDEL', reruns, ...)
  redis.pcall('HDEL', rerun_claims, ...)
end
