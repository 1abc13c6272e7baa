import { randomUUID } from 'node:crypto'
import {
  definePolicy,
  type Exchange,
  headerCount,
  headerValue,
  RequestIds,
  removeHeader,
  setHeader,
} from '@sluice/core'
import { fieldName } from '../../shared/message/field-name.js'
import { requestIdSchema } from './schema.js'

const ACCEPTED = /^[A-Za-z0-9._:-]{1,128}$/

/** The `request-id` policy. Adds a second request id in a header of the operator's choice. */
export const requestId = definePolicy({
  name: 'request-id',
  summary: 'Adds a request id in a header field of your choice to requests and responses.',
  schema: requestIdSchema,
  compile({ header, format, trustIncoming, echo }, env) {
    const name = fieldName('request', header)
    if (name === 'x-request-id')
      throw new Error("every request already has 'x-request-id': choose another name, or remove the policy")
    const make = idMaker(format)
    const ids = env.slot<string>()
    return {
      name: 'request-id',
      onRequest(x) {
        const id = (trustIncoming ? incoming(x, name) : null) ?? make(x)
        setHeader(x.headers, name, id)
        if (echo) ids.set(x, id)
        return null
      },
      ...(echo && {
        onResponse(x) {
          const id = ids.get(x)
          if (id === undefined) removeHeader(x.responseHeaders, name)
          else setHeader(x.responseHeaders, name, id)
          return null
        },
      }),
    }
  },
})

function incoming(x: Exchange, name: string): string | null {
  const id = headerValue(x.headers, name)
  return id !== null && headerCount(x.headers, name) === 1 && ACCEPTED.test(id) ? id : null
}

/** Crockford's base32 digits, without I, L, O and U. */
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Returns the generator of request ids in a format. */
function idMaker(format: 'request-id' | 'uuid-v4' | 'uuid-v7' | 'ulid'): (x: Exchange) => string {
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
