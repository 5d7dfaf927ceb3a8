-- Records of claims of jobs by w8y (F:claims), and whether such a record is still valid.
-- "SCORE UNTIL MARK RUN": score of the claim in feed.claimed, end of its lease (ms), its state, and
-- the value of its lease ("run:<host>:<pid>:<run id>").
--   MARK "n"     its host has not renewed it: the host may not have received the claim
--        "-"     no other state
--        "q"     an operator has requested that the job is stalled at the end of its run
--        "r<ms>" its run has failed: it is delayed until then
-- Defined by the including script:
--   claimed  the key

local function note_of_claim(score, until_ms, mark, run)
  return string.format('%.0f %.0f %s %s', score, until_ms, mark, run)
end

-- nil: there is none, or it is invalid.
local function read_note(note)
  local score, until_ms, mark, run = string.match(note or '', '^(%d+) (%d+) (%S+) (.*)$')
  if not score then return end
  return {score = tonumber(score), until_ms = tonumber(until_ms), mark = mark, run = run}
end

-- Returns whether a record is valid. A claim that any client has returned has another score, or
-- none. `score`: the current one.
local function counts(note, score)
  return note and score and tonumber(score) == note.score
end
