-- Encodes bytes as a member of a JSON object: text, or base64 under `name`_base64 if they are not
-- valid UTF-8.

local digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

local function base64(bytes)
  local out = {}
  local function digit(number) return string.sub(digits, number + 1, number + 1) end
  for i = 1, #bytes, 3 do
    local a, b, c = string.byte(bytes, i, i + 2)
    local bits = a * 65536 + (b or 0) * 256 + (c or 0)
    out[#out + 1] = digit(math.floor(bits / 262144)) .. digit(math.floor(bits / 4096) % 64)
      .. (b and digit(math.floor(bits / 64) % 64) or '=') .. (c and digit(bits % 64) or '=')
  end
  return table.concat(out)
end

-- Forms of a character that is not ASCII, by its first byte (RFC 3629).
local forms = {
  '[\194-\223][\128-\191]',
  '\224[\160-\191][\128-\191]',
  '[\225-\236\238\239][\128-\191][\128-\191]',
  '\237[\128-\159][\128-\191]',
  '\240[\144-\191][\128-\191][\128-\191]',
  '[\241-\243][\128-\191][\128-\191][\128-\191]',
  '\244[\128-\143][\128-\191][\128-\191]',
}
local function is_utf8(bytes)
  for _, form in ipairs(forms) do bytes = string.gsub(bytes, form, ' ') end
  return not string.find(bytes, '[\128-\255]')
end

local function json_bytes(name, bytes)
  if is_utf8(bytes) then return '"' .. name .. '":' .. cjson.encode(bytes) end
  return '"' .. name .. '_base64":"' .. base64(bytes) .. '"'
end

-- Returns the start of long bytes, which does not end within a UTF-8 character.
local function beginning(bytes, most)
  if #bytes <= most then return bytes end
  local last = most
  while last > most - 3 and string.find(bytes, '^[\128-\191]', last + 1) do last = last - 1 end
  return string.sub(bytes, 1, last)
end
