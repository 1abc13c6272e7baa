// Runs inside the sandbox (see runtime.ts), so it may use only code of this folder.
import type { Editing } from '../ctx.js'

/** A list of alternating names and values. Records its changes as alternating operation, name and value. */
export class Fields implements Editing {
  readonly #list: string[]
  readonly #changes: string[] | null
  readonly #separator: string | null

  /**
   * Wraps a list.
   * @param changes null for read-only fields.
   * @param separator joins the values of one name; if it is null, `get` returns the first value.
   */
  constructor(list: string[], changes: string[] | null, separator: string | null) {
    this.#list = list
    this.#changes = changes
    this.#separator = separator
  }

  get(name: string): string | null {
    const values = this.getAll(name)
    if (values.length === 0) return null
    return this.#separator === null ? values[0]! : values.join(this.#separator)
  }

  getAll(name: string): string[] {
    const key = this.#key(name)
    return this.#list.filter((_, i) => i % 2 === 1 && this.#list[i - 1] === key)
  }

  has(name: string): boolean {
    return this.getAll(name).length > 0
  }

  names(): string[] {
    return [...new Set(this.#list.filter((_, i) => i % 2 === 0))]
  }

  set(name: string, value: string): void {
    this.#change('set', name, value)
  }

  append(name: string, value: string): void {
    this.#change('append', name, value)
  }

  remove(name: string): void {
    this.#change('remove', name, '')
  }

  #change(operation: string, name: string, value: string): void {
    if (this.#changes === null) throw new TypeError('the request has already been sent and cannot be changed')
    const key = this.#key(name)
    const text = String(value)
    this.#changes.push(operation, key, text)
    if (operation !== 'append') this.#take(key)
    if (operation !== 'remove') this.#list.push(key, text)
  }

  #take(key: string): void {
    for (let i = this.#list.length - 2; i >= 0; i -= 2) {
      if (this.#list[i] === key) this.#list.splice(i, 2)
    }
  }

  /** Converts a name to its key. Header names are case-insensitive. */
  #key(name: string): string {
    return this.#separator === null ? String(name) : String(name).toLowerCase()
  }
}

/** Decodes the parameters of a query as alternating names and values. Text that cannot be decoded stays unchanged. */
export function queryList(text: string): string[] {
  const list: string[] = []
  if (text === '') return list
  for (const part of text.split('&')) {
    const equals = part.indexOf('=')
    const at = equals === -1 ? part.length : equals
    list.push(queryPart(part.slice(0, at)), queryPart(part.slice(at + 1)))
  }
  return list
}

function queryPart(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

/** Functions and classes to copy into the sandbox. */
export const FIELDS_PARTS = [Fields, queryList, queryPart]
