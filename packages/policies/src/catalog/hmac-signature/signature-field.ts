import { type ByteEncoding, decode, encode } from '../../shared/encoding/byte-text.js'

/** What a signature field says. */
export interface FieldContent {
  /** Each is a signature that may be right. */
  readonly signatures: readonly Buffer[]
  /** As it stands there; null where the field has no time. */
  readonly timestamp: string | null
}

/** How signatures stand in a header. */
export interface SignatureField {
  readonly hasTimestamp: boolean
  /** Null when it is not such a field. */
  read(value: string): FieldContent | null
  write(signature: Buffer, timestamp: string): string
}

/** Longest field that is looked at; a request has one signature and maybe one of the secret before. */
const MAX_FIELD_LENGTH = 4096
const MAX_ELEMENTS = 32

/** A prefix and a signature: `sha256=…`. */
export function plainField(prefix: string, encoding: ByteEncoding): SignatureField {
  return {
    hasTimestamp: false,
    read(value) {
      if (value.length > MAX_FIELD_LENGTH || !value.startsWith(prefix)) return null
      const signature = decode(value.slice(prefix.length), encoding)
      return signature === null ? null : { signatures: [signature], timestamp: null }
    },
    write: (signature) => prefix + encode(signature, encoding),
  }
}

/** `t=…,v1=…,v1=…`: one time, and as many signatures as there are secrets; other elements are not looked at. */
export const stripeField: SignatureField = {
  hasTimestamp: true,
  read(value) {
    if (value.length > MAX_FIELD_LENGTH) return null
    const elements = value.split(',', MAX_ELEMENTS + 1)
    if (elements.length > MAX_ELEMENTS) return null
    const times = valuesOf(elements, 't')
    const signatures = valuesOf(elements, 'v1').map((text) => decode(text, 'hex'))
    if (times.length !== 1 || signatures.length === 0) return null
    const isReadable = (signature: Buffer | null): signature is Buffer => signature !== null
    return signatures.every(isReadable) ? { signatures, timestamp: times[0]! } : null
  },
  write: (signature, timestamp) => `t=${timestamp},v1=${encode(signature, 'hex')}`,
}

function valuesOf(elements: readonly string[], name: string): string[] {
  const start = `${name}=`
  return elements
    .map((element) => element.trim())
    .filter((element) => element.startsWith(start))
    .map((element) => element.slice(start.length))
}
