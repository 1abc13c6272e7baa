import { type HeaderList, plainName } from '@sluice/core'

/** Headers that only the gateway may send to the upstream. Removes those of the client, including look-alikes. */
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

/** Removes headers that an upstream could confuse with this one, such as those with `_` instead of `-`. */
export function removeLookalikes(headers: HeaderList, name: string): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    const other = headers[i]!
    if (other.length === name.length && other !== name && plainName(other) === plainName(name))
      headers.splice(i, 2)
  }
}

/** Removes headers that an upstream could confuse with one that has this prefix. */
export function removeLookalikesOfPrefix(headers: HeaderList, prefix: string): void {
  const plain = plainName(prefix)
  for (let i = headers.length - 2; i >= 0; i -= 2)
    if (plainName(headers[i]!).startsWith(plain)) headers.splice(i, 2)
}
