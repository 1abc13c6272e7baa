// Runs inside the sandbox (see runtime.ts), so it may use only code of this folder.
import type { ScriptBody } from '../ctx.js'

/** Thrown if a body does not have the format that the script reads. The sender is to blame. */
export class BodyError extends Error {
  override readonly name: string = 'BodyError'
}

/** Body format: text, binary, or no body to read. */
export type BodyKind = 'text' | 'binary' | 'none'

interface Replacing {
  /** Receives the media type of a new body, or null if the body cannot be replaced. */
  readonly onType: ((type: string) => void) | null
  /** Reason why the body cannot be replaced. */
  readonly cannotSet: string
}

/** A body that a script can read and replace. */
export class Body implements ScriptBody {
  #kind: BodyKind
  #text: string
  readonly #replacing: Replacing
  /** New body set by the script, or null. */
  #made: string | null = null

  constructor(kind: BodyKind, text: string, replacing: Replacing) {
    this.#kind = kind
    this.#text = text
    this.#replacing = replacing
  }

  text(): string {
    if (this.#kind === 'text') return this.#text
    if (this.#kind === 'binary') throw new BodyError('the body is not UTF-8 text')
    throw new TypeError(this.#replacing.cannotSet || 'there is no body to read in this hook')
  }

  json(): unknown {
    const text = this.text()
    try {
      const value: unknown = JSON.parse(text)
      // Refuses duplicate names: the upstream could use the other value.
      if (namesIn(text) === membersOf(value)) return value
    } catch (error) {
      const { message } = error as Error
      if (message === 'out of memory') throw error
      throw new BodyError(
        message === 'stack overflow' ? 'the body is nested too deeply' : 'the body is not JSON',
      )
    }
    throw new BodyError('the body has an object with a duplicate name')
  }

  set(value: unknown, type?: string): void {
    const { onType, cannotSet } = this.#replacing
    if (onType === null) throw new TypeError(cannotSet)
    const text = contentText(value)
    if (type !== undefined) onType(String(type))
    else if (typeof value !== 'string') onType('application/json')
    this.#made = text
    this.#text = text
    this.#kind = 'text'
  }

  /** Returns the body that the script set, or null. */
  static madeOf(body: Body): string | null {
    return body.#made
  }
}

/** Returns a string unchanged and any other value as JSON. */
export function contentText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (typeof text !== 'string')
    throw new TypeError('this value cannot be written as JSON; use a string or an object')
  if (text.includes('\0')) throw new TypeError('a body set by a script cannot contain NUL characters')
  return text
}

/** Counts the names in a JSON text: strings followed by a colon. */
function namesIn(text: string): number {
  let names = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 1
    while (escapes % 2 === 1) {
      at = text.indexOf('"', at + 1)
      for (escapes = 0; text[at - 1 - escapes] === '\\'; ) escapes++
    }
    let next = at + 1
    while (text.charCodeAt(next) <= 32) next++
    if (text[next] === ':') names++
  }
  return names
}

/** Counts the members of all objects in a value. The parser drops duplicate names. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const children = Object.values(value)
  let members = Array.isArray(value) ? 0 : children.length
  for (let i = 0; i < children.length; i++) members += membersOf(children[i])
  return members
}

/** Functions and classes to copy into the sandbox. */
export const BODY_PARTS = [BodyError, Body, contentText, namesIn, membersOf]
