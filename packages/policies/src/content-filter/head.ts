import type { Exchange, HeaderList } from '@sluice/core'
import { changed, Finder } from './finder.js'
import type { Rule } from './rules.js'

/** What looking at a head came to. `exceeds` only where more than is looked at must not pass. */
export type HeadOutcome = 'pass' | 'block' | 'exceeds'

/** How much of a head is looked at, and who decides about what is found. */
export interface HeadOptions {
  readonly maxBytes: number
  /** More than that must not pass; else the rest is not looked at. */
  readonly isBounding: boolean
  readonly rounds: number
  blocks(x: Exchange, found: readonly Rule[]): boolean
}

const COOKIE = 'cookie'
const NONE: readonly Rule[] = []
const PAIR = /^([^=]*=)?(.*)$/s

/** Looks at path, query, cookies and header lines, and takes out of them what rules want out. */
export class HeadFilter {
  readonly #options: HeadOptions
  readonly #path: Finder | null
  readonly #query: Finder | null
  readonly #cookie: Finder | null
  readonly #anyHeader: Finder | null
  readonly #headers: ReadonlyMap<string, Finder>
  #left = 0

  constructor(rules: readonly Rule[], options: HeadOptions) {
    this.#options = options
    const of = (...targets: string[]): Finder | null => finderOf(rules, targets, options.rounds)
    this.#path = of('path')
    this.#query = of('query')
    this.#cookie = of('cookie')
    this.#anyHeader = of('header:*')
    const names = rules.flatMap(({ targets }) => targets).filter((target) => /^header:[^*]/.test(target))
    this.#headers = new Map(
      names.map((target) => [target.slice('header:'.length).toLowerCase(), of('header:*', target)!]),
    )
  }

  /** Whether there is nothing to look at. */
  get isIdle(): boolean {
    return (
      [this.#path, this.#query, this.#cookie, this.#anyHeader].every((one) => one === null) &&
      this.#headers.size === 0
    )
  }

  request(x: Exchange): HeadOutcome {
    this.#left = this.#options.maxBytes
    if (this.#path !== null && this.#look(x, x.rawPath, this.#path) === null) return this.#stopped
    if (this.#query !== null && x.query !== '') {
      const query = this.#pairs(x, x.query, '&', this.#query)
      if (query === null) return this.#stopped
      x.query = query
    }
    return this.#lines(x, x.headers)
  }

  response(x: Exchange): HeadOutcome {
    this.#left = this.#options.maxBytes
    return this.#lines(x, x.responseHeaders)
  }

  /** Why the last look ended early. */
  get #stopped(): HeadOutcome {
    return this.#left < 0 && this.#options.isBounding ? 'exceeds' : 'block'
  }

  #lines(x: Exchange, list: HeaderList): HeadOutcome {
    let kept = 0
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i]!
      const value = this.#line(x, name, list[i + 1]!)
      // The message ends here; what is left of its lines is for the log only.
      if (value === undefined) return this.#stopped
      if (value === null) continue
      list[kept] = name
      list[kept + 1] = value
      kept += 2
    }
    if (kept !== list.length) list.length = kept
    return 'pass'
  }

  /** The value that is left; null: none, undefined: the message must not pass. */
  #line(x: Exchange, name: string, value: string): string | null | undefined {
    if (name === COOKIE && this.#cookie !== null && !this.#headers.has(COOKIE)) {
      const cookies = this.#pairs(x, value, ';', this.#cookie)
      return cookies === null ? undefined : cookies.trim() === '' ? null : cookies.trimStart()
    }
    const finder = this.#headers.get(name) ?? (name === COOKIE ? null : this.#anyHeader)
    if (finder === null) return value
    const found = this.#look(x, value, finder)
    return found === null ? undefined : found.length === 0 ? value : changed(value, found)
  }

  /** Names and values of a list one by one; null: the message must not pass. */
  #pairs(x: Exchange, list: string, separator: string, finder: Finder): string | null {
    const parts = list.split(separator)
    let isChanged = false
    const kept: string[] = []
    for (const part of parts) {
      const rest = this.#pair(x, part, finder)
      if (rest === undefined) return null
      isChanged ||= rest !== part
      if (rest !== null) kept.push(rest)
    }
    return isChanged ? kept.join(separator) : list
  }

  #pair(x: Exchange, part: string, finder: Finder): string | null | undefined {
    const [, name = '', value = ''] = PAIR.exec(part)!
    const inName = this.#look(x, name.slice(0, -1), finder)
    const inValue = inName === null ? null : this.#look(x, value, finder)
    if (inName === null || inValue === null) return undefined
    if (inName.some(({ action }) => action === 'remove' || action === 'mask')) return null
    if (inValue.length === 0) return part
    const rest = changed(value, inValue)
    return rest === null ? null : rest === value ? part : name + rest
  }

  /** What is found in a text; null: the message must not pass. */
  #look(x: Exchange, text: string, finder: Finder): readonly Rule[] | null {
    this.#left -= text.length
    if (this.#left < 0) return this.#options.isBounding ? null : NONE
    const found = finder.find(text, finder === this.#query)
    return this.#options.blocks(x, found) ? null : found
  }
}

function finderOf(rules: readonly Rule[], targets: readonly string[], rounds: number): Finder | null {
  const lower = targets.map((target) => target.toLowerCase())
  const meant = rules.filter((rule) => rule.targets.some((target) => lower.includes(target.toLowerCase())))
  return meant.length === 0 ? null : new Finder(meant, rounds)
}
