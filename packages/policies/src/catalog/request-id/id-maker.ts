import { randomUUID } from 'node:crypto'
import { type Exchange, RequestIds } from '@sluice/core'

/** Crockford's digits: no I, L, O and U. */
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** What makes the id of a request. */
export function idMaker(format: 'request-id' | 'uuid-v4' | 'uuid-v7' | 'ulid'): (x: Exchange) => string {
  if (format === 'request-id') return (x) => x.id
  if (format === 'uuid-v4') return () => randomUUID()
  const ids = new RequestIds()
  if (format === 'uuid-v7') return (x) => ids.next(x.startedAt)
  return (x) => ulidOf(ids.next(x.startedAt))
}

/** A ULID has the time where a UUIDv7 has it, and takes any bits behind it: the same 128 bits in other digits. */
function ulidOf(uuid: string): string {
  let bits = BigInt(`0x${uuid.replaceAll('-', '')}`)
  let text = ''
  for (let i = 0; i < 26; i++) {
    text = BASE32[Number(bits & 31n)]! + text
    bits >>= 5n
  }
  return text
}
