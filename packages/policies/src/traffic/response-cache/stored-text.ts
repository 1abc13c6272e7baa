import { isHopByHop, isToken, joinJsonHead, MAX_STATE_VALUE_BYTES, splitJsonHead } from '@sluice/core'
import { type Freshness, REQUEST_SPECIFIC_STATUSES } from './freshness.js'
import { type StoredParts, type StoredResponse, storedResponse, UNSTORED_FIELDS } from './stored-response.js'

/** Time of a request in terms of the second tier. */
export interface Stamp {
  /** Token of the URI. A different one means that something has changed. Empty if there was none. */
  readonly token: string
  /** Number of purges so far. */
  readonly purges: number
}

/** Head of the encoded variants of a key. The bodies follow it. */
interface Head {
  readonly stamp: Stamp
  readonly variants: readonly VariantHead[]
}

interface VariantHead extends Omit<StoredParts, 'key' | 'uri' | 'body'> {
  readonly bytes: number
}

/** Encodes as many variants as fit, the newest first. Returns null if none fits. */
export function encodeVariants(variants: readonly StoredResponse[], stamp: Stamp): Buffer | null {
  for (let count = variants.length; count > 0; count--) {
    const encoded = encode(variants.slice(0, count), stamp)
    if (encoded.length <= MAX_STATE_VALUE_BYTES) return encoded
  }
  return null
}

function encode(variants: readonly StoredResponse[], stamp: Stamp): Buffer {
  const heads = variants.map(({ status, headers, body, tags, varyValues, freshness, receivedAt }) => ({
    status,
    headers,
    bytes: body.length,
    tags,
    varyValues,
    freshness,
    receivedAt,
  }))
  const head: Head = { stamp, variants: heads }
  return joinJsonHead(head, ...variants.map(({ body }) => body))
}

/**
 * Decodes variants. Returns null if they were not written by this version.
 * @param of key and URI of the variants.
 */
export function decodeVariants(
  bytes: Uint8Array,
  of: { readonly key: string; readonly uri: string },
): { readonly stamp: Stamp; readonly variants: readonly StoredResponse[] } | null {
  const { head, body } = splitJsonHead(bytes) ?? { head: null, body: bytes }
  if (!isHead(head)) return null
  const variants: StoredResponse[] = []
  let at = 0
  for (const { bytes: size, ...parts } of head.variants) {
    if (at + size > body.length) return null
    // A copy, so that one variant does not keep the memory of the others.
    variants.push(storedResponse({ ...of, ...parts, body: Buffer.from(body.subarray(at, at + size)) }))
    at += size
  }
  return at === body.length ? { stamp: head.stamp, variants } : null
}

function isHead(value: unknown): value is Head {
  const { stamp, variants } = (value ?? {}) as Partial<Head>
  if (typeof stamp?.token !== 'string' || !Number.isSafeInteger(stamp.purges)) return false
  return Array.isArray(variants) && variants.every(isVariant)
}

/**
 * Validates a variant. Others can write to the store, too, so anything that is not a valid response is
 * rejected.
 */
function isVariant(value: unknown): boolean {
  const { status, headers, bytes, tags, varyValues, freshness, receivedAt } = (value ??
    {}) as Partial<VariantHead>
  return (
    isWhole(status) &&
    status >= 200 &&
    status < 600 &&
    !REQUEST_SPECIFIC_STATUSES.has(status) &&
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
    isTexts(it.unstored)
  )
}

function isKeptName(name: string): boolean {
  return isToken(name) && name === name.toLowerCase() && !isHopByHop(name) && !UNSTORED_FIELDS.has(name)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && isAmount(value)
}

/** True for a time in milliseconds that can be written as digits. */
function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}
