/** Which slot of a cluster a key is in, reckoned here as every node does: a node that is busy could not be asked. */
const SLOTS = 16_384

export function slotOf(key: string): number {
  return crc16(Buffer.from(hashTag(key))) % SLOTS
}

/** What stands between the first brace and the next one that closes; an empty tag is none. */
function hashTag(key: string): string {
  const start = key.indexOf('{') + 1
  const end = start === 0 ? -1 : key.indexOf('}', start)
  return end > start ? key.slice(start, end) : key
}

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc
}
