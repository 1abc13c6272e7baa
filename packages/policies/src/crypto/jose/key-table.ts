/** Maximum number of keys to try for one message, because its sender controls the effort. */
export const MAX_TRIES = 4

interface KeyGroup<K> {
  readonly named: Map<string, K[]>
  /** Keys without an id. They may match any id. */
  readonly unnamed: K[]
}

/**
 * Keys by algorithm and id:
 *
 *     alg ─► group ─┬─ named: kid ─► its keys       for a message with a known kid; an issuer may have several
 *                   ├─ unnamed: up to 4 keys         for a message with an unknown kid
 *                   └─ all of them, up to 4          for a message without a kid; if more, only the unnamed ones
 */
export class KeyTable<K> {
  readonly #groups = new Map<string, KeyGroup<K>>()

  /**
   * Adds a key.
   * @param sharesId true if several keys of an issuer may have the same id.
   * @throws Error for another duplicate id, and for more keys than would be tried.
   */
  add(alg: string, kid: string | null, key: K, sharesId = false): void {
    const group: KeyGroup<K> = this.#groups.get(alg) ?? { named: new Map(), unnamed: [] }
    this.#groups.set(alg, group)
    if (kid === null) {
      if (group.unnamed.push(key) > MAX_TRIES)
        throw new Error(`has no id, like ${MAX_TRIES} other keys for ${alg}; set kid for each of them`)
      return
    }
    const named = group.named.get(kid) ?? []
    if (named.length >= (sharesId ? MAX_TRIES : 1))
      throw new Error(`has the same kid '${kid}' as another key for ${alg}; use unique ones`)
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
