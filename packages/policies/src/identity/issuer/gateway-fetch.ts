import type { StateStore } from '@sluice/core'
import { singleFlight } from '../../shared/call/single-flight.js'

/** A document of an issuer. */
export interface IssuerDocument<T> {
  /** Fetches the document. Rejects with any Error without secrets in its message. */
  fetch(): Promise<Uint8Array>
  /**
   * Parses the document.
   * @param fetchedAt time of the fetch in milliseconds since 1970.
   * @throws Error for an unusable document.
   */
  read(body: Uint8Array, fetchedAt: number): T
}

interface GatewayFetchOptions {
  /** Store of the gateway, never of a cluster: write access to it would allow forging keys and redirecting logins. */
  readonly store: StateStore
  /** Name in the store, unique per document. */
  readonly name: string
  /** Time that workers wait for the one that fetches, in milliseconds. */
  readonly waitMs: number
  /** Maximum age of another worker's document, in milliseconds. */
  readonly freshMs: number
}

/**
 * Returns a newer document than the current one. Rejects with any Error without secrets in its message.
 * @param held current document, returned if no newer one may be fetched.
 * @param hasMissing returns true for a document with the missing key, or null if the current one is old or absent.
 */
export type FetchNewer<T> = (held: T | null, hasMissing: ((value: T) => boolean) | null) => Promise<T>

/** Minimum interval of fetches for unknown key ids, in milliseconds, because anybody can invent a `kid`. */
export const UNKNOWN_EVERY_MS = 10_000
/** Length of the header of stored documents: the fetch time in milliseconds since 1970. */
const HEAD_BYTES = 8
const ASKED = new Uint8Array([0])

/**
 * Fetches a document in one worker for all workers of a gateway. Each worker parses it itself. An unusable one is
 * fetched again.
 */
export function fetchForGateway<T extends { readonly fetchedAt: number }>(
  { fetch, read }: IssuerDocument<T>,
  { store, name, waitMs, freshMs }: GatewayFetchOptions,
): FetchNewer<T> {
  // Without the store, the worker's own limit applies.
  const mayAskForUnknown = (): Promise<boolean> =>
    store.set(`${name}:unknown`, ASKED, UNKNOWN_EVERY_MS, 'absent').catch(() => true)
  /** Returns a stored document, or null if it is not newer, too old or from the future. @throws Error */
  const newerThan = (held: T | null, stored: Uint8Array): T | null => {
    if (stored.length <= HEAD_BYTES) return null
    const fetchedAt = Buffer.from(stored.buffer, stored.byteOffset).readDoubleBE()
    const age = Date.now() - fetchedAt
    const isUsable = age >= 0 && age < freshMs && fetchedAt > (held?.fetchedAt ?? 0)
    return isUsable ? read(stored.subarray(HEAD_BYTES), fetchedAt) : null
  }
  return (held, hasMissing) => {
    let newest = held
    return singleFlight<T>({
      ...{ store, key: name, waitMs },
      read(stored) {
        newest = newerThan(newest, stored) ?? newest
        if (newest === null || newest === held) return null
        return hasMissing === null || hasMissing(newest) ? newest : null
      },
      async ask() {
        if (newest !== null && hasMissing !== null && !(await mayAskForUnknown()))
          return { value: newest, bytes: null, ttlMs: 0, isStored: true }
        const body = await fetch()
        const value = read(body, Date.now())
        const head = Buffer.alloc(HEAD_BYTES)
        head.writeDoubleBE(value.fetchedAt)
        return { value, bytes: Buffer.concat([head, body]), ttlMs: Math.max(1, freshMs) }
      },
    })
  }
}
