import type { DocumentPath } from '../document-path.js'

/** Remembers where the items of lists stood before others were taken out. */
export class Origins {
  readonly #positions = new WeakMap<readonly unknown[], number[]>()

  /** The items of a list with their paths in the document as written. */
  entries<T>(list: readonly T[], path: DocumentPath): readonly (readonly [T, DocumentPath])[] {
    const positions = this.#positions.get(list)
    return list.map((item, i) => [item, [...path, positions?.[i] ?? i]])
  }

  /** Takes an item out of a list. */
  remove(list: unknown[], at: number): void {
    const positions = this.#positions.get(list) ?? list.map((_, i) => i)
    list.splice(at, 1)
    positions.splice(at, 1)
    this.#positions.set(list, positions)
  }
}
