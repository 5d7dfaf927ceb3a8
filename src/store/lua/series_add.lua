-- Adds counts of a host to the statistics over time of a list, or of all lists.
--
-- KEYS  1 hash of the buckets
-- ARGV  1 life of the hash, ms
--       then for each minute: its age in minutes (0: the current minute), number of runs that
--       ended, number of these that failed, durations of the runs, cycle times
-- Reply number of buckets that were written; 0: the key has another type
-- A bucket is a field: "m" and the minute of the hour, or "h" and the half hour of the day. Its
-- value is "START RUNS FAILED DURATIONS CYCLES". START counts minutes since 1970: a bucket with
-- another start is older, and is replaced. DURATIONS and CYCLES are histograms, "BIN:COUNT,…" in
-- ascending order or "-" (src/core/duration_bins.hpp). They have a maximum number of bytes, so that
-- the hash has a maximum size. A longer histogram gets bins that are 2, 4 or more times as wide:
-- "WIDTH/" before the bins. BIN then replaces WIDTH bins of width 1, from BIN * WIDTH. Therefore,
-- the error of a percentile has a bound: half of the width of a bin.

local spans = {{'m', 1, 60}, {'h', 30, 48}}
-- Maximum bytes of a histogram: 28 bins with counts of 6 digits, and 14 with counts of 5 digits.
local of_durations, of_cycles = 288, 130
local bins_of_width_1, max_width = 108, 128
local key = KEYS[1]

-- Adds the counts of a histogram to bins of this width.
local function add(counts, text, width)
  local own = tonumber(string.match(text, '^(%d+)/')) or 1
  for bin, count in string.gmatch(text, '(%d+):(%d+)') do
    local first = bin * own
    if first < bins_of_width_1 then
      local at = math.floor(first / width)
      counts[at] = (counts[at] or 0) + tonumber(count)
    end
  end
end

local function text_of(counts, width)
  local bins, texts = {}, {}
  for bin in pairs(counts) do bins[#bins + 1] = bin end
  table.sort(bins)
  for i, bin in ipairs(bins) do texts[i] = string.format('%d:%.0f', bin, counts[bin]) end
  return (width > 1 and width .. '/' or '') .. table.concat(texts, ',')
end

-- Returns the sum of two histograms.
local function sum(known, more, most)
  if more == '-' then return known end
  local width, own = 1, tonumber(string.match(known, '^(%d+)/')) or 1
  while width < own and width < max_width do width = width * 2 end
  while true do
    local counts = {}
    add(counts, known, width)
    add(counts, more, width)
    local text = text_of(counts, width)
    if #text <= most or width == max_width then return text end
    width = width * 2
  end
end

local any_new = false
-- `known`: value of the bucket, or false.
local function bucket(known, start)
  -- Another client may have written a longer text.
  if known and #known < 1024 then
    local at, runs, failed, durations, cycles = string.match(known,
      '^(%d+) (%d+) (%d+) ([%d:,/-]+) ([%d:,/-]+)$')
    if tonumber(at) == start then return tonumber(runs), tonumber(failed), durations, cycles end
  end
  any_new = true
  return 0, 0, '-', '-'
end

local now = math.floor(redis.call('TIME')[1] / 60)
-- Buckets that change: fields, their starts, and the argument of their first count.
local fields, starts, firsts = {}, {}, {}
for i = 2, #ARGV, 5 do
  local minute = now - tonumber(ARGV[i])
  for _, span in ipairs(spans) do
    local name, length, kept = span[1], span[2], span[3]
    local start = minute - minute % length
    if start > now - length * kept then
      fields[#fields + 1] = string.format('%s%d', name, start / length % kept)
      starts[#starts + 1], firsts[#firsts + 1] = start, i + 1
    end
  end
end
if #fields == 0 then return 0 end
-- HMGET, because a Redis user of circular lists has no permission for HGET.
local known = redis.pcall('HMGET', key, unpack(fields))
if known.err then
  if string.sub(known.err, 1, 9) == 'WRONGTYPE' then return 0 end
  redis.call('HMGET', key, fields[1]) -- raises the same error
end
local values = {}
for k, field in ipairs(fields) do values[field] = known[k] end
for k, field in ipairs(fields) do
  local i = firsts[k]
  local runs, failed, durations, cycles = bucket(values[field], starts[k])
  values[field] = string.format('%d %.0f %.0f %s %s', starts[k], runs + ARGV[i], failed + ARGV[i + 1],
    sum(durations, ARGV[i + 2], of_durations), sum(cycles, ARGV[i + 3], of_cycles))
end
local set = {}
for field, value in pairs(values) do
  set[#set + 1] = field
  set[#set + 1] = value
end
-- If PEXPIRE is refused, nothing is written.
local exists = not any_new or redis.call('PEXPIRE', key, ARGV[1]) == 1
redis.call('HSET', key, unpack(set))
if not exists then redis.call('PEXPIRE', key, ARGV[1]) end
return #fields
