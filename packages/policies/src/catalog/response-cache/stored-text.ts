import { isHopByHop, isToken, MAX_STATE_VALUE_BYTES } from '@sluice/core'
import { type Freshness, OF_ONE_REQUEST } from './freshness.js'
import { StoredResponse, UNKEPT } from './stored-response.js'

/** When a response was asked for, in the terms of the second tier. */
export interface Stamp {
  /** Of the URI: another one says that something has changed there since. Empty: it has none yet. */
  readonly token: string
  /** How many purges there had been. */
  readonly purges: number
}

/** The variants of a key as the second tier keeps them: a head in JSON, its length before it, the bodies behind it. */
interface Head {
  readonly stamp: Stamp
  readonly variants: readonly VariantHead[]
}

interface VariantHead {
  readonly status: number
  readonly headers: readonly string[]
  readonly bytes: number
  readonly tags: readonly string[]
  readonly varyValues: readonly string[]
  readonly freshness: Freshness
  readonly receivedAt: number
}

const LENGTH_BYTES = 4

/** Writes as many of the variants as there is room for, the newest first; null: there is no room for one. */
export function encodeVariants(variants: readonly StoredResponse[], stamp: Stamp): Buffer | null {
  for (let count = variants.length; count > 0; count--) {
    const encoded = encode(variants.slice(0, count), stamp)
    if (encoded.length <= MAX_STATE_VALUE_BYTES) return encoded
  }
  return null
}

function encode(variants: readonly StoredResponse[], stamp: Stamp): Buffer {
  const heads = variants.map(({ status, headers, body, tags, varyValues, freshness, receivedAt }) => {
    return { status, headers, bytes: body.length, tags, varyValues, freshness, receivedAt }
  })
  const head = Buffer.from(JSON.stringify({ stamp, variants: heads } satisfies Head))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, ...variants.map(({ body }) => body)])
}

/** Null: it is not what this version writes. @param of the key and URI that it was found under. */
export function decodeVariants(
  bytes: Uint8Array,
  of: { readonly key: string; readonly uri: string },
): { readonly stamp: Stamp; readonly variants: readonly StoredResponse[] } | null {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (all.length < LENGTH_BYTES) return null
  const bodies = LENGTH_BYTES + all.readUInt32BE()
  const head = readHead(all.subarray(LENGTH_BYTES, bodies))
  if (head === null) return null
  const variants: StoredResponse[] = []
  let at = bodies
  for (const { bytes: size, ...parts } of head.variants) {
    if (at + size > all.length) return null
    // A copy, so that one variant does not hold on to the others.
    variants.push(new StoredResponse({ ...of, ...parts, body: Buffer.from(all.subarray(at, at + size)) }))
    at += size
  }
  return at === all.length ? { stamp: head.stamp, variants } : null
}

function readHead(text: Buffer): Head | null {
  try {
    const head = JSON.parse(text.toString()) as Partial<Head>
    if (typeof head.stamp?.token !== 'string' || !Number.isSafeInteger(head.stamp.purges)) return null
    return Array.isArray(head.variants) && head.variants.every(isVariant) ? (head as Head) : null
  } catch {
    return null
  }
}

/** Others may write into the server too: what is no response of this version is none, and breaks no line. */
function isVariant(value: unknown): boolean {
  const { status, headers, bytes, tags, varyValues, freshness, receivedAt } = (value ??
    {}) as Partial<VariantHead>
  return (
    isWhole(status) &&
    status >= 200 &&
    status < 600 &&
    !OF_ONE_REQUEST.has(status) &&
    isWhole(bytes) &&
    isAmount(receivedAt) &&
    isTexts(tags) &&
    isTexts(varyValues) &&
    isTexts(headers) &&
    headers.length % 2 === 0 &&
    headers.every((text, i) => (i % 2 === 0 ? isKeptName(text) : !/[^\t\x20-\x7e\x80-\xff]/.test(text))) &&
    isFreshness(freshness) &&
    freshness.vary.length === varyValues.length
  )
}

function isFreshness(value: unknown): value is Freshness {
  const it = (value ?? {}) as Partial<Freshness>
  const times = [it.lifetimeMs, it.initialAgeMs, it.staleWhileRevalidateMs, it.staleIfErrorMs]
  const choices = [it.isAlwaysValidated, it.mustRevalidate]
  return (
    times.every(isAmount) &&
    choices.every((choice) => typeof choice === 'boolean') &&
    isTexts(it.vary) &&
    isTexts(it.unkept)
  )
}

function isKeptName(name: string): boolean {
  return isToken(name) && name === name.toLowerCase() && !isHopByHop(name) && !UNKEPT.has(name)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && isAmount(value)
}

/** Times in ms: such as can be written into a field as digits. */
function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}
