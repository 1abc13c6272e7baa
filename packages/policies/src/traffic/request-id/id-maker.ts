import { randomUUID } from 'node:crypto'
import { type Exchange, RequestIds } from '@sluice/core'

/** Crockford's base32 digits, without I, L, O and U. */
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Returns the generator of request ids in a format. */
export function idMaker(format: 'request-id' | 'uuid-v4' | 'uuid-v7' | 'ulid'): (x: Exchange) => string {
  if (format === 'request-id') return (x) => x.id
  if (format === 'uuid-v4') return () => randomUUID()
  const ids = new RequestIds()
  if (format === 'uuid-v7') return (x) => ids.next(x.startedAt)
  return (x) => ulidOf(ids.next(x.startedAt))
}

/** Converts a UUIDv7 to a ULID. Both start with the time and have 128 bits, so only the digits change. */
function ulidOf(uuid: string): string {
  let bits = BigInt(`0x${uuid.replaceAll('-', '')}`)
  let text = ''
  for (let i = 0; i < 26; i++) {
    text = BASE32[Number(bits & 31n)]! + text
    bits >>= 5n
  }
  return text
}
