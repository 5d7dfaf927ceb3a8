-- Adds counts of a host to the statistics over time of a list, or of all lists.
--
-- KEYS  1 hash of the buckets
-- ARGV  1 life of the hash, ms
--       then for each minute: its age in minutes (0: the current minute), number of runs that ended,
--       number of these that failed, durations of the runs, cycle times
-- Reply number of buckets that were written; 0: the key has another type
-- A bucket is a field: "m" and the minute of the hour, or "h" and the half hour of the day. Its value
-- is "START RUNS FAILED DURATIONS CYCLES". START counts minutes since 1970: a bucket with another
-- start is older, and is replaced. DURATIONS and CYCLES are histograms, "BIN:COUNT,…" in ascending
-- order or "-" (src/core/duration_bins.hpp). They have a maximum number of bins, so that the hash has
-- a maximum size. Beyond it, the two neighbours with the lowest counts become one bin.

local spans = {{'m', 1, 60}, {'h', 30, 48}}
local max_durations, max_cycles = 16, 8
local key = KEYS[1]

local function fewest(bins)
  local at, least = 1, math.huge
  for i = 1, #bins - 1 do
    local count = bins[i].count + bins[i + 1].count
    if count < least then at, least = i, count end
  end
  return at
end

-- Returns the sum of two histograms.
local function sum(known, more, most)
  if more == '-' then return known end
  local counts, bins = {}, {}
  for _, text in ipairs({known, more}) do
    for bin, count in string.gmatch(text, '(%d+):(%d+)') do
      counts[bin] = (counts[bin] or 0) + tonumber(count)
    end
  end
  for bin, count in pairs(counts) do bins[#bins + 1] = {bin = tonumber(bin), count = count} end
  table.sort(bins, function(a, b) return a.bin < b.bin end)
  while #bins > most do
    local at = fewest(bins)
    local low, high = bins[at], bins[at + 1]
    if low.count > high.count then high.bin = low.bin end
    high.count = low.count + high.count
    table.remove(bins, at)
  end
  local texts = {}
  for i, each in ipairs(bins) do texts[i] = string.format('%d:%.0f', each.bin, each.count) end
  return table.concat(texts, ',')
end

local function bucket(field, start)
  local known = redis.call('HGET', key, field)
  -- Another client may have written a longer text.
  if known and #known < 1024 then
    local at, runs, failed, durations, cycles = string.match(known,
      '^(%d+) (%d+) (%d+) ([%d:,-]+) ([%d:,-]+)$')
    if tonumber(at) == start then return tonumber(runs), tonumber(failed), durations, cycles end
  end
  return 0, 0, '-', '-'
end

local written = 0
local probe = redis.pcall('HGET', key, 'm0')
if type(probe) == 'table' and probe.err and string.sub(probe.err, 1, 9) == 'WRONGTYPE' then return 0 end
local exists = redis.call('PEXPIRE', key, ARGV[1])
local now = math.floor(redis.call('TIME')[1] / 60)
for i = 2, #ARGV, 5 do
  local minute = now - tonumber(ARGV[i])
  for _, span in ipairs(spans) do
    local name, length, kept = span[1], span[2], span[3]
    local start = minute - minute % length
    if start > now - length * kept then
      local field = string.format('%s%d', name, start / length % kept)
      local runs, failed, durations, cycles = bucket(field, start)
      redis.call('HSET', key, field, string.format('%d %.0f %.0f %s %s', start,
        runs + ARGV[i + 1], failed + ARGV[i + 2],
        sum(durations, ARGV[i + 3], max_durations), sum(cycles, ARGV[i + 4], max_cycles)))
      written = written + 1
    end
  end
end
if exists == 0 and written > 0 then redis.call('PEXPIRE', key, ARGV[1]) end
return written
