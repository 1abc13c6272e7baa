import type { Exchange, HeaderList } from '@sluice/core'
import { changed, type Finder, type Finders } from './finder.js'
import type { Rule } from './rules.js'

/** Result of scanning a head. `exceeds` means that it is longer than the limit and must not pass. */
export type HeadOutcome = 'pass' | 'block' | 'exceeds'

/** Scan limit and blocking decision for heads. */
export interface HeadOptions {
  readonly maxBytes: number
  /** True if a longer head must not pass. Otherwise the rest is not scanned. */
  readonly refusesExcess: boolean
  blocks(x: Exchange, found: readonly Rule[]): boolean
}

/** Settings for scanning one part of a head. */
interface TargetScan {
  readonly finder: Finder
  /** True if `+` may stand for a space. */
  readonly isForm: boolean
}

const COOKIE = 'cookie'
const NONE: readonly Rule[] = []
const PAIR = /^([^=]*=)?(.*)$/s

/** Scans path, query, cookies and header lines, and removes or masks matches. */
export class HeadFilter {
  readonly #options: HeadOptions
  readonly #path: TargetScan | null
  readonly #query: TargetScan | null
  readonly #cookie: TargetScan | null
  readonly #anyHeader: TargetScan | null
  readonly #headers: ReadonlyMap<string, TargetScan>
  #left = 0

  constructor(rules: readonly Rule[], finders: Finders, options: HeadOptions) {
    this.#options = options
    this.#path = scanOf(finders.of('path'))
    this.#query = scanOf(finders.of('query'), true)
    this.#cookie = scanOf(finders.of('cookie'))
    this.#anyHeader = scanOf(finders.of('header:*'))
    const names = rules.flatMap(({ targets }) => targets).filter((target) => /^header:[^*]/.test(target))
    this.#headers = new Map(
      names.map((target) => [target.slice('header:'.length), headerScan(finders, target)]),
    )
  }

  /** True if there is nothing to scan. */
  get isIdle(): boolean {
    return (
      [this.#path, this.#query, this.#cookie, this.#anyHeader].every((one) => one === null) &&
      this.#headers.size === 0
    )
  }

  request(x: Exchange): HeadOutcome {
    this.#left = this.#options.maxBytes
    if (this.#path !== null && this.#scan(x, x.rawPath, this.#path) === null) return this.#stopped
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

  /** Reason why the last scan stopped early. */
  get #stopped(): HeadOutcome {
    return this.#left < 0 && this.#options.refusesExcess ? 'exceeds' : 'block'
  }

  #lines(x: Exchange, list: HeaderList): HeadOutcome {
    let kept = 0
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i]!
      const value = this.#line(x, name, list[i + 1]!)
      // The message is refused, so the remaining lines are only needed for the log.
      if (value === undefined) return this.#stopped
      if (value === null) continue
      list[kept] = name
      list[kept + 1] = value
      kept += 2
    }
    if (kept !== list.length) list.length = kept
    return 'pass'
  }

  /** Returns the remaining value, null if the line is removed, or undefined if the message must not pass. */
  #line(x: Exchange, name: string, value: string): string | null | undefined {
    const isCookie = name === COOKIE
    const rest = isCookie && this.#cookie !== null ? this.#pairs(x, value, ';', this.#cookie) : value
    if (rest === null) return undefined
    if (rest.trim() === '' && rest !== value) return null
    const scan = this.#headers.get(name) ?? (isCookie ? null : this.#anyHeader)
    if (scan === null) return isCookie ? rest.trimStart() : rest
    const found = this.#scan(x, rest, scan)
    return found === null ? undefined : found.length === 0 ? rest : changed(rest, found)
  }

  /** Scans the names and values of a list. Returns null if the message must not pass. */
  #pairs(x: Exchange, list: string, separator: string, scan: TargetScan): string | null {
    const parts = list.split(separator)
    let isChanged = false
    const kept: string[] = []
    for (const part of parts) {
      const rest = this.#pair(x, part, scan)
      if (rest === undefined) return null
      isChanged ||= rest !== part
      if (rest !== null) kept.push(rest)
    }
    return isChanged ? kept.join(separator) : list
  }

  #pair(x: Exchange, part: string, scan: TargetScan): string | null | undefined {
    const [, name = '', value = ''] = PAIR.exec(part)!
    const inName = this.#scan(x, name.slice(0, -1).trim(), scan)
    const inValue = inName === null ? null : this.#scan(x, value, scan)
    if (inName === null || inValue === null) return undefined
    if (inName.some(({ action }) => action === 'remove' || action === 'mask')) return null
    if (inValue.length === 0) return part
    const rest = changed(value, inValue)
    return rest === null ? null : rest === value ? part : name + rest
  }

  /** Returns the rules that match a text, or null if the message must not pass. */
  #scan(x: Exchange, text: string, { finder, isForm }: TargetScan): readonly Rule[] | null {
    this.#left -= text.length
    if (this.#left < 0) return this.#options.refusesExcess ? null : NONE
    const found = finder.find(text, isForm)
    return this.#options.blocks(x, found) ? null : found
  }
}

function scanOf(finder: Finder | null, isForm = false): TargetScan | null {
  return finder === null ? null : { finder, isForm }
}

/** Returns the finder for a header. `header:*` excludes cookies, which have their own target. */
function headerScan(finders: Finders, target: string): TargetScan {
  const targets = target === 'header:cookie' ? [target] : ['header:*', target]
  return scanOf(finders.of(...targets))!
}
