/** Most keys that are tried for one message: whoever sends it decides how much work that is. */
export const MAX_TRIES = 4

interface KeyGroup<K> {
  readonly named: Map<string, K[]>
  /** Keys whose id nobody has said: they may belong to any. */
  readonly unnamed: K[]
}

/**
 * Keys by algorithm and id.
 *
 *     alg ─► group ─┬─ named: kid ─► its keys       when the message names it; an issuer may have several
 *                   ├─ unnamed: up to 4 keys         when the message names a key that is not here
 *                   └─ all of them, up to 4          when the message names none; else the unnamed ones
 */
export class KeyTable<K> {
  readonly #groups = new Map<string, KeyGroup<K>>()

  /**
   * @param sharesId true where an issuer may have given one id to several keys.
   * @throws Error for an id that stands twice otherwise, and for more keys than would be tried.
   */
  add(alg: string, kid: string | null, key: K, sharesId = false): void {
    const group: KeyGroup<K> = this.#groups.get(alg) ?? { named: new Map(), unnamed: [] }
    this.#groups.set(alg, group)
    if (kid === null) {
      if (group.unnamed.push(key) > MAX_TRIES) {
        throw new Error(`is one of more than ${MAX_TRIES} keys for ${alg} without an id; give each its kid`)
      }
      return
    }
    const named = group.named.get(kid) ?? []
    if (named.length >= (sharesId ? MAX_TRIES : 1))
      throw new Error(`has the kid '${kid}' of another key for ${alg}; give each its own`)
    named.push(key)
    group.named.set(kid, named)
  }

  candidates(alg: string, kid: string | null): readonly K[] {
    const group = this.#groups.get(alg)
    if (group === undefined) return []
    if (kid === null) {
      const all = [...[...group.named.values()].flat(), ...group.unnamed]
      return all.length <= MAX_TRIES ? all : group.unnamed
    }
    return group.named.get(kid) ?? group.unnamed
  }
}
