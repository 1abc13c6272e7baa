import type { StateStore } from '@sluice/core'
import { singleFlight } from '../../shared/call/single-flight.js'
import type { KeyEndpoint } from './key-endpoint.js'
import type { FetchedKeys, FetchKeys } from './remote-key-set.js'

/** Options for `fetchForGateway`. */
export interface GatewayKeyFetchOptions {
  /** Store of the gateway, never of a cluster: write access to it would allow forging keys. */
  readonly store: StateStore
  /** Name in the store, unique per key endpoint. */
  readonly name: string
  /** Time that workers wait for the one that fetches, in milliseconds. */
  readonly waitMs: number
  /** Maximum age of another worker's keys, in milliseconds. */
  readonly freshMs: number
}

/** Minimum interval of fetches for unknown key ids, in milliseconds, because anybody can invent a `kid`. */
export const UNKNOWN_EVERY_MS = 10_000
/**
 * Length of the header of stored keys: the fetch time in milliseconds since 1970, followed by the issuer's document.
 */
const HEAD_BYTES = 8
const ASKED = new Uint8Array([0])

/**
 * Fetches the keys of an issuer in one worker for all workers of a gateway. Each worker parses the document itself.
 * An unusable one is fetched again.
 */
export function fetchForGateway({ fetch, read }: KeyEndpoint, options: GatewayKeyFetchOptions): FetchKeys {
  const { store, name, waitMs, freshMs } = options
  const ttlMs = Math.max(1, freshMs)
  // Without the store, the worker's own limit applies.
  const mayAskForUnknown = (): Promise<boolean> =>
    store.set(`${name}:unknown`, ASKED, UNKNOWN_EVERY_MS, 'absent').catch(() => true)
  return (held, kid) => {
    let newest = held
    return singleFlight<FetchedKeys>({
      ...{ store, key: name, waitMs },
      read(stored) {
        newest = newerThan(newest, stored, freshMs, read) ?? newest
        if (newest === null || newest === held) return null
        return kid === null || newest.kids.has(kid) ? newest : null
      },
      async ask() {
        if (newest !== null && kid !== null && !(await mayAskForUnknown()))
          return { value: newest, bytes: null, ttlMs: 0, isStored: true }
        const body = await fetch()
        const keys = read(body, Date.now())
        return { value: keys, bytes: storedKeys(body, keys.fetchedAt), ttlMs }
      },
    })
  }
}

function storedKeys(body: Uint8Array, fetchedAt: number): Buffer {
  const stored = Buffer.alloc(HEAD_BYTES + body.length)
  stored.writeDoubleBE(fetchedAt)
  stored.set(body, HEAD_BYTES)
  return stored
}

/**
 * Returns stored keys, or null if they are not newer, too old or from the future.
 * @throws Error for an unreadable document.
 */
function newerThan(
  held: FetchedKeys | null,
  stored: Uint8Array,
  freshMs: number,
  read: KeyEndpoint['read'],
): FetchedKeys | null {
  if (stored.length <= HEAD_BYTES) return null
  const fetchedAt = Buffer.from(stored.buffer, stored.byteOffset).readDoubleBE()
  const age = Date.now() - fetchedAt
  if (!(age >= 0 && age < freshMs) || fetchedAt <= (held?.fetchedAt ?? 0)) return null
  return read(stored.subarray(HEAD_BYTES), fetchedAt)
}
