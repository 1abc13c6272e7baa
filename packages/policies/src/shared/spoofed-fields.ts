import { type HeaderList, plainName } from '@sluice/core'

/** Fields that only the gateway may send to the upstream: those of the client are removed, and what could be taken for them. */
export class SpoofedFields {
  readonly #names: ReadonlySet<string>

  /** @param names lower-case. */
  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(plainName))
  }

  has(name: string): boolean {
    return this.#names.has(plainName(name))
  }

  removeFrom(headers: HeaderList): void {
    if (this.#names.size === 0) return
    let kept = 0
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!
      if (this.#names.has(plainName(name))) continue
      headers[kept] = name
      headers[kept + 1] = headers[i + 1]!
      kept += 2
    }
    headers.length = kept
  }
}

/** Removes fields that could be taken for the one of this name: those that differ from it in `_` for `-`, or alike. */
export function removeLookalikes(headers: HeaderList, name: string): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    const other = headers[i]!
    if (other.length === name.length && other !== name && plainName(other) === plainName(name))
      headers.splice(i, 2)
  }
}

/** Removes fields whose names could be taken for one that begins so. */
export function removeLookalikesOfPrefix(headers: HeaderList, prefix: string): void {
  const plain = plainName(prefix)
  for (let i = headers.length - 2; i >= 0; i -= 2)
    if (plainName(headers[i]!).startsWith(plain)) headers.splice(i, 2)
}
