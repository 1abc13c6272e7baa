import { type ByteEncoding, decode, encode } from '../../shared/encoding/byte-text.js'

/** Parsed content of a signature field. */
export interface FieldContent {
  /** Signatures, one of which must be valid. */
  readonly signatures: readonly Buffer[]
  /** Time as written, or null if the field has none. */
  readonly timestamp: string | null
}

/** Format of a signature field. */
export interface SignatureField {
  readonly hasTimestamp: boolean
  /** Returns null if the value does not have this format. */
  read(value: string): FieldContent | null
  write(signature: Buffer, timestamp: string): string
}

/** Maximum length of a field in characters. A request has one signature per secret. */
const MAX_FIELD_LENGTH = 4096
const MAX_ELEMENTS = 32

/** Format with a prefix and one signature: `sha256=…`. */
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

/** Format `t=…,v1=…,v1=…`: one time, and one signature per secret. Other elements are ignored. */
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
