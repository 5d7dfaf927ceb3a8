-- What is noted of our claims of jobs (F:claims), and whether one of them still counts.
-- "SCORE UNTIL MARK RUN": the claim's score in feed.claimed, when its lease ends (ms), what is
-- ordered of it, and the value of its lease ("run:<host>:<pid>:<run id>").
--   MARK "n"     nothing, and its host has not renewed it: it may have never heard of its claim
--        "-"     nothing
--        "q"     an operator wants the job stalled when its run ends
--        "r<ms>" its run has failed: it is held back until then
-- Before this stands
--   claimed  the key

local function note_of_claim(score, until_ms, mark, run)
  return string.format('%.0f %.0f %s %s', score, until_ms, mark, run)
end

-- nil: there is none, or it can't be read.
local function read_note(note)
  local score, until_ms, mark, run = string.match(note or '', '^(%d+) (%d+) (%S+) (.*)$')
  if not score then return end
  return {score = tonumber(score), until_ms = tonumber(until_ms), mark = mark, run = run}
end

-- A claim that was taken back, whoever did that, has another score, or none. `score`: as it is now.
local function counts(note, score)
  return note and score and tonumber(score) == note.score
end
