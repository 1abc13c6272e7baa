// Runs inside the sandbox (see runtime.ts): uses nothing but what stands in this folder.
import type { ScriptBody } from '../../../catalog/script/ctx.js'

/** A body that is not what the script wants to read: the fault of who sent it. */
export class BodyError extends Error {
  override readonly name: string = 'BodyError'
}

/** Whether there is a body to read, and whether it is text. */
export type BodyKind = 'text' | 'binary' | 'none'

interface Replacing {
  /** Hears the type of a new body; null: it cannot be replaced. */
  readonly onType: ((type: string) => void) | null
  /** Why not. */
  readonly cannotSet: string
}

/** A body that a script reads and replaces. */
export class Body implements ScriptBody {
  #kind: BodyKind
  #text: string
  readonly #replacing: Replacing
  /** What the script put in its place; null: nothing. */
  #made: string | null = null

  constructor(kind: BodyKind, text: string, replacing: Replacing) {
    this.#kind = kind
    this.#text = text
    this.#replacing = replacing
  }

  text(): string {
    if (this.#kind === 'text') return this.#text
    if (this.#kind === 'binary') throw new BodyError('the body is not UTF-8 text')
    throw new TypeError(this.#replacing.cannotSet || 'there is no body to be read here')
  }

  json(): unknown {
    const text = this.text()
    try {
      const value: unknown = JSON.parse(text)
      // Two of one name: the upstream could read the other one.
      if (namesIn(text) === membersOf(value)) return value
    } catch (error) {
      const { message } = error as Error
      if (message === 'out of memory') throw error
      throw new BodyError(
        message === 'stack overflow' ? 'the body is nested too deeply' : 'the body is not JSON',
      )
    }
    throw new BodyError('the body has an object with a name twice')
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

  /** What the script has made, for the gateway. */
  static madeOf(body: Body): string | null {
    return body.#made
  }
}

/** Text as it is, everything else as JSON. */
export function contentText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (typeof text !== 'string') throw new TypeError('this value has no JSON; give a text or an object')
  if (text.includes('\0')) throw new TypeError('a body from a script is text, which has no NUL')
  return text
}

/** Returns the number of names in a JSON text: strings with a colon behind them. */
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

/** Returns the number of members of all objects in a value: one of two equal names is lost when a text is parsed. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const children = Object.values(value)
  let members = Array.isArray(value) ? 0 : children.length
  for (let i = 0; i < children.length; i++) members += membersOf(children[i])
  return members
}

/** What these functions and classes need beside themselves. */
export const BODY_PARTS = [BodyError, Body, contentText, namesIn, membersOf]
