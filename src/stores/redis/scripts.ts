/**
 * The Lua of the store, one script per verb, each over the keys of one shard and over all of a batch at once.
 * All are atomic, take the server's own time, and name every key they touch in KEYS.
 *
 * A receipt is one string: state (a letter), `until` (13 digits; dashes: never), `epoch` (16), `createdAt` (13),
 * `at` (13), and then four lines: the token, its terms, whose it is, its outcome. The scripts read no further than
 * the token. Every change is also in the journal, which is the audit log: a stream whose entries hold, per event, a
 * line with microseconds (16), epoch (16) and whose it is, and a line with the note. A claim and a swap write
 * nothing else; the indexes are brought up to date from the journal by whoever needs them (INDEX).
 *
 * What a claim or a swap brings is one argument for the whole batch, because that is what clients send fastest.
 * Per receipt: a line with state, epoch, createdAt (dashes: to be stamped), duration and length of the outcome;
 * token; terms; whose it is; note; and the outcome. A swap has a line more in front: the state, `until` where it
 * counts, and the token that are expected. Where it keeps what was claimed, `=` stands for createdAt, and only the
 * note and the outcome follow. Answers name only what is not the usual.
 */
import { createHash } from 'node:crypto'

export interface Script {
  readonly sha: string
  readonly text: string
}

/** Microseconds and milliseconds, as digits of fixed length: they compare and cut as text. */
export const CLOCK = `
local sub, call = string.sub, redis.call
local time = call('TIME')
local us = time[1] .. sub('00000' .. time[2], -6)
local now = sub(us, 1, 13)
`

const BATCH = `
local find, batch, from = string.find, ARGV[1], 1
local untils, lengths = {}, {}
`

/** In a loop: what the batch says of the next receipt. Durations and lengths come again and again. */
const NEXT = `
  local state, epoch = sub(batch, from, from), sub(batch, from + 1, from + 16)
  local head = find(batch, '\\n', from, true)
  local kept = sub(batch, from + 17, from + 17) == '='
  local spec = sub(batch, from + (kept and 18 or 30), head - 1)
  local untilText = untils[spec]
  if not untilText then
    local comma = find(spec, ',', 1, true)
    untilText = comma == 1 and '-------------' or string.format('%013.0f', now + sub(spec, 1, comma - 1))
    untils[spec] = untilText
    lengths[spec] = tonumber(sub(spec, comma + 1))
  end
  local second, last = head, head
  if not kept then
    second = find(batch, '\\n', find(batch, '\\n', head + 1, true) + 1, true)
    last = find(batch, '\\n', second + 1, true)
  end
  local third = last
  last = find(batch, '\\n', third + 1, true)
  local start, stop = last + 1, last + lengths[spec]
`

/** The stamp of arrival, and the lines that a receipt begins with: what the batch brings. */
const BROUGHT = `
    created, lines = sub(batch, from + 17, from + 29), sub(batch, head + 1, third)
    if sub(created, 1, 1) == '-' then created = now end
    event = sub(batch, second + 1, last)
`

/** The text of the receipt, stamped. */
const VALUE = `state .. untilText .. epoch .. created .. now .. lines .. sub(batch, start, stop)`

/** An entry is kept short, so that a purge can drop one without dropping much more than it was asked to. */
export const journal = (key: string): string => `
local events, logged = {}, 0
local function flush()
  call('XADD', ${key}, '*', 'e', table.concat(events, '', 1, logged))
  logged = 0
end
`
export const LOG = `
    events[logged + 1] = us
    events[logged + 2] = epoch
    events[logged + 3] = event
    logged = logged + 3
    if logged == 96 then flush() end
`

/**
 * KEYS: journal, floor, receipts. ARGV: the batch.
 * Answers: now, the epoch of those that were inserted, and for each other one its number and what is there; or its
 * epoch, where it was inserted under one of its own.
 */
export const CLAIM = script(`${CLOCK}${BATCH}${journal('KEYS[1]')}
local found = call('MGET', unpack(KEYS, 2))
local newEpoch = us
if found[1] and found[1] >= us then newEpoch = string.format('%016.0f', found[1] + 1) end
local answer, fresh, writes = { now, newEpoch }, {}, {}
local function say(i, text)
  answer[#answer + 1] = i
  answer[#answer + 1] = text
end
for i = 2, #found do
${NEXT}
  local key = KEYS[i + 1]
  local there = found[i] or fresh[key]
  if there then
    say(i - 2, there)
  else
    local created, lines, event
${BROUGHT}
    if sub(epoch, 1, 1) == '-' then epoch = newEpoch else say(i - 2, epoch) end
    local value = ${VALUE}
    local n = #writes
    fresh[key] = value
    writes[n + 1] = key
    writes[n + 2] = value
${LOG}
  end
  from = stop + 1
end
if #writes > 0 then
  call('MSET', unpack(writes))
  if logged > 0 then flush() end
end
return answer
`)

/**
 * KEYS: journal, receipts. ARGV: the batch, and the channel.
 * Answers: now, and then the number of each change that was not made, with nothing, or that was made under a new
 * epoch, with that.
 */
export const SWAP = script(`${CLOCK}${BATCH}${journal('KEYS[1]')}
local found = call('MGET', unpack(KEYS, 2))
local answer, fresh, written, ended = { now }, {}, {}, {}
local function say(i, text)
  answer[#answer + 1] = i
  answer[#answer + 1] = text
end
for i = 1, #found do
  local key = KEYS[i + 1]
  local there = fresh[key] or found[i]
  local expected = find(batch, '\\n', from, true)
  local quote = sub(batch, from + 1, from + 1) == '"' and from + 1 or from + 14
  local as, token = sub(batch, from, quote - 1), sub(batch, quote, expected)
  from = expected + 1
${NEXT}
  if there and sub(there, 1, #as) == as and sub(there, 57, 56 + #token) == token then
    local created, lines, event
    if kept then
      local terms = find(there, '\\n', 57 + #token, true)
      local subject = find(there, '\\n', terms + 1, true)
      created, lines = sub(there, 31, 43), sub(there, 57, subject)
      event = sub(there, terms + 1, subject) .. sub(batch, third + 1, last)
    else
${BROUGHT}
    end
    if sub(epoch, 1, 1) == '-' then
      epoch = us
      local before = sub(there, 15, 30)
      if before >= us then epoch = string.format('%016.0f', before + 1) end
      say(i - 1, epoch)
    end
    if not fresh[key] then written[#written + 1] = key end
    fresh[key] = ${VALUE}
${LOG}
    if state ~= 'p' and sub(as, 1, 1) == 'p' then ended[#ended + 1] = sub(key, -22) end
  else
    say(i - 1, '')
  end
  from = stop + 1
end
if #written > 0 then
  local writes = {}
  for i = 1, #written do
    writes[i * 2 - 1] = written[i]
    writes[i * 2] = fresh[written[i]]
  end
  call('MSET', unpack(writes))
  if logged > 0 then flush() end
  if #ended > 0 then call('PUBLISH', ARGV[2], table.concat(ended)) end
end
return answer
`)

/** KEYS: journal (which says where), receipts. Answers: now, then each receipt. */
export const GET = script(`${CLOCK}
if #KEYS == 1 then return { now } end
local answer = call('MGET', unpack(KEYS, 2))
table.insert(answer, 1, now)
return answer
`)

/** KEYS: journal. ARGV: two per event: its epoch; whose it is, and the note. */
export const RECORD = script(`${CLOCK}${journal('KEYS[1]')}
for i = 1, #ARGV, 2 do
    local epoch, event = ARGV[i], ARGV[i + 1]
${LOG}
end
if logged > 0 then flush() end
return { now }
`)

export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}
