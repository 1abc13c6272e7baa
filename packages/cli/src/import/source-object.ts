import type { DocumentDraft } from './draft.js'
import type { SourceTree, TreePath } from './source-tree.js'

/** Names of comments in JSON, and of extensions. */
const COMMENT = /^(@|_|x-|\$)/

/** An object of a YAML or JSON source. It records the keys that were mapped, and reports the others. */
export class SourceObject {
  readonly draft: DocumentDraft
  readonly #tree: SourceTree
  readonly #path: TreePath
  readonly #value: Readonly<Record<string, unknown>>
  readonly #known = new Set<string>()

  constructor(draft: DocumentDraft, tree: SourceTree, path: TreePath, value: unknown) {
    this.draft = draft
    this.#tree = tree
    this.#path = path
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    this.#value = isObject ? (value as Readonly<Record<string, unknown>>) : {}
  }

  /** Returns a value and counts its key as mapped. */
  take(key: string): unknown {
    const value = Object.hasOwn(this.#value, key) ? this.#value[key] : undefined
    if (value !== undefined && !this.#known.has(key)) {
      this.#known.add(key)
      this.draft.report.mapped++
    }
    return value ?? undefined
  }

  /** Returns a text, or a number as text; undefined for any other value. */
  text(key: string): string | undefined {
    const value = this.take(key)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }

  /** Returns a number, or undefined for any other value. */
  number(key: string): number | undefined {
    const value = this.take(key)
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined
  }

  /** Returns the texts of a list, or of a single value. */
  texts(key: string): string[] {
    const value = this.take(key)
    const list = Array.isArray(value) ? value : value === undefined ? [] : [value]
    return list.filter((one) => typeof one === 'string' || typeof one === 'number').map(String)
  }

  /** Returns an object, which is empty for any other value. */
  object(key: string): SourceObject {
    return new SourceObject(this.draft, this.#tree, [...this.#path, key], this.take(key))
  }

  /** Returns the objects of a list. */
  objects(key: string): SourceObject[] {
    const value = this.take(key)
    if (!Array.isArray(value)) return []
    return value.map((one, i) => new SourceObject(this.draft, this.#tree, [...this.#path, key, i], one))
  }

  /** Returns the names of all keys. */
  keys(): string[] {
    return Object.keys(this.#value)
  }

  /** Returns `file:line` of the object, or of one of its keys. */
  place(key?: string): string {
    return this.#tree.placeOf(key === undefined ? this.#path : [...this.#path, key])
  }

  /** Records keys without an effect on requests. @param keys names with spaces between them */
  ignore(keys: string): void {
    for (const key of keys.split(' ')) {
      if (!Object.hasOwn(this.#value, key) || this.#known.has(key)) continue
      this.#known.add(key)
      this.draft.report.notNeeded++
    }
  }

  /** Reports a key that was not mapped, if it is there. */
  leaveOut(key: string, reason: string, remedy?: string): void {
    if (!Object.hasOwn(this.#value, key) || this.#value[key] === null) return
    this.#known.add(key)
    this.draft.report.leaveOut({ place: this.place(key), what: key, reason, remedy })
  }

  /** Reports a small difference. */
  note(what: string, reason: string, remedy?: string): void {
    this.draft.report.note({ place: this.place(), what, reason, remedy })
  }

  /** Reports a protection that was not mapped, and returns its text for `unprotected` of a route. */
  unprotected(what: string, reason: string, remedy: string): string {
    this.draft.reportUnprotected({ place: this.place(), what, reason, remedy })
    return what
  }

  /** Reports all other keys. */
  finish(): void {
    for (const key of this.keys()) {
      if (COMMENT.test(key)) this.ignore(key)
      else if (!this.#known.has(key)) this.leaveOut(key, 'the import does not know this key')
    }
  }
}
