import type { StateStore } from '@sluice/core'
import { singleFlight } from '../../shared/single-flight.js'
import type { KeyEndpoint } from './key-endpoint.js'
import type { FetchedKeys, FetchKeys } from './remote-key-set.js'

export interface KeysOfGatewayOptions {
  /** Of the gateway, never of a cluster: whoever could write into it could let anybody in. */
  readonly store: StateStore
  /** Another name for keys of another place. */
  readonly name: string
  /** How long others wait for the worker that fetches, ms. */
  readonly waitMs: number
  /** Age up to which keys of another worker are taken, ms. */
  readonly freshMs: number
}

/** Tokens that name unknown keys have the keys fetched no more often than this: anybody can write a `kid`. */
export const UNKNOWN_EVERY_MS = 10_000
/** Keys as they are stored: when they were fetched, ms since 1970, and behind it the document of the issuer. */
const HEAD_BYTES = 8
const ASKED = new Uint8Array([0])

/**
 * The keys of an issuer, fetched by one worker for all of a gateway. Each reads the document itself, as if it had fetched
 * it; one that cannot be read is fetched anew.
 */
export function fetchTogether({ fetch, read }: KeyEndpoint, options: KeysOfGatewayOptions): FetchKeys {
  const { store, name, waitMs, freshMs } = options
  const ttlMs = Math.max(1, freshMs)
  // Who cannot ask the store goes by its own count.
  const mayAskForUnknown = (): Promise<boolean> =>
    store.set(`${name}:unknown`, ASKED, UNKNOWN_EVERY_MS, 'absent').catch(() => true)
  return (held, kid) => {
    let newest = held
    let isKept = false
    const find = async (): Promise<FetchedKeys | null> => {
      newest = newerThan(newest, await store.get(name), freshMs, read) ?? newest
      if (newest === null || newest === held) return null
      return kid === null || newest.kids.has(kid) ? newest : null
    }
    const ask = async (): Promise<FetchedKeys> => {
      if (newest !== null && kid !== null && !(await mayAskForUnknown())) {
        isKept = true
        return newest
      }
      const body = await fetch()
      const keys = read(body, Date.now())
      isKept = await store.set(name, storedKeys(body, keys.fetchedAt), ttlMs).catch(() => false)
      return keys
    }
    return singleFlight({ store, key: name, waitMs, find, ask, isKept: () => isKept })
  }
}

function storedKeys(body: Uint8Array, fetchedAt: number): Buffer {
  const stored = Buffer.alloc(HEAD_BYTES + body.length)
  stored.writeDoubleBE(fetchedAt)
  stored.set(body, HEAD_BYTES)
  return stored
}

/** Null: there are none, they are not newer, too old or from the future, or not to be read. */
function newerThan(
  held: FetchedKeys | null,
  stored: Uint8Array | null,
  freshMs: number,
  read: KeyEndpoint['read'],
): FetchedKeys | null {
  if (stored === null || stored.length <= HEAD_BYTES) return null
  const fetchedAt = Buffer.from(stored.buffer, stored.byteOffset).readDoubleBE()
  const age = Date.now() - fetchedAt
  if (!(age >= 0 && age < freshMs) || fetchedAt <= (held?.fetchedAt ?? 0)) return null
  try {
    return read(stored.subarray(HEAD_BYTES), fetchedAt)
  } catch {
    return null
  }
}
