import type { SignatureCheck } from './signature-check.js'

/** One key with one algorithm. */
export interface SignatureKey {
  readonly kid: string | null
  /** Whose tokens the key signs; null: those of every issuer that the policy allows. */
  readonly issuer: string | null
  readonly check: SignatureCheck
}

/**
 * Where the keys come from that signatures are checked with. A set that is fetched from somewhere answers from what it
 * has, and with a promise only while it has to ask for a key it has not met.
 */
export interface KeySet {
  /** Changes whenever a key is added or goes away: what was verified before is verified again. */
  readonly generation: number
  /** The keys that may have signed under this algorithm and key id; few, because each is tried. */
  candidates(alg: string, kid: string | null): readonly SignatureKey[] | Promise<readonly SignatureKey[]>
}

/** Most keys that are tried for one signature: whoever sends it decides how much work that is. */
export const MAX_TRIES = 4

const NONE: readonly SignatureKey[] = []

interface Shelf {
  readonly named: Map<string, SignatureKey>
  /** Keys whose id nobody has said: they may belong to any. */
  readonly unnamed: SignatureKey[]
}

/**
 * The keys of the configuration.
 *
 *     alg ─► shelf ─┬─ named: kid ─► the one key     when the token names it
 *                   ├─ unnamed: up to 4 keys         when the token names a key that is not here
 *                   └─ all of them, up to 4          when the token names none; else the unnamed ones
 */
export class LocalKeySet implements KeySet {
  readonly generation = 0
  readonly #shelves = new Map<string, Shelf>()

  /** @throws Error for an id that stands twice, and for more keys without id than would be tried. */
  add(alg: string, key: SignatureKey): void {
    const shelf: Shelf = this.#shelves.get(alg) ?? { named: new Map(), unnamed: [] }
    this.#shelves.set(alg, shelf)
    if (key.kid === null) {
      if (shelf.unnamed.push(key) > MAX_TRIES) {
        throw new Error(`is one of more than ${MAX_TRIES} keys for ${alg} without an id; give each its kid`)
      }
    } else if (shelf.named.has(key.kid)) {
      throw new Error(`has the kid '${key.kid}' of another key for ${alg}; give each its own`)
    } else shelf.named.set(key.kid, key)
  }

  candidates(alg: string, kid: string | null): readonly SignatureKey[] {
    const shelf = this.#shelves.get(alg)
    if (shelf === undefined) return NONE
    if (kid === null) {
      const all = [...shelf.named.values(), ...shelf.unnamed]
      return all.length <= MAX_TRIES ? all : shelf.unnamed
    }
    const key = shelf.named.get(kid)
    return key === undefined ? shelf.unnamed : [key]
  }
}
