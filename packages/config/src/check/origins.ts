import type { DocumentPath } from '../diagnostic/document-path.js'

/** Maps list items to their original positions after other items were removed. */
export class Origins {
  readonly #positions = new WeakMap<readonly unknown[], number[]>()

  /** Returns the items of a list with their paths in the original document. */
  entries<T>(list: readonly T[], path: DocumentPath): readonly (readonly [T, DocumentPath])[] {
    const positions = this.#positions.get(list)
    return list.map((item, i) => [item, [...path, positions?.[i] ?? i]])
  }

  remove(list: unknown[], at: number): void {
    const positions = this.#positions.get(list) ?? list.map((_, i) => i)
    list.splice(at, 1)
    positions.splice(at, 1)
    this.#positions.set(list, positions)
  }
}
