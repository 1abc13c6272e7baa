import { compileRegex, type Regex } from '@sluice/core'

/** Compiled patterns by flags and source. An expression has one per regex literal. */
const compiled = new Map<string, Regex>()
/** Maximum number of cached patterns. */
const MAX_COMPILED = 1000

/**
 * Returns a replacement for RegExp in expressions. Its `exec` takes linear time. All calls together must
 * finish within the time limit, because functions that search for all matches do not check it.
 */
export function linearRegexEngine(timeoutMs: number): new (pattern: RegExp) => Engine {
  return class extends Engine {
    constructor(pattern: RegExp) {
      super(pattern, performance.now() + timeoutMs)
    }
  }
}

class Engine {
  lastIndex = 0
  readonly #regex: Regex
  readonly #dueMono: number

  /** @throws Error for a pattern that cannot be matched in linear time. */
  constructor(pattern: RegExp, dueMono: number) {
    this.#regex = compile(pattern)
    this.#dueMono = dueMono
  }

  exec(text: string): (string[] & { index: number }) | null {
    if (performance.now() > this.#dueMono)
      throw new RangeError('the pattern matching of an expression exceeded its time limit')
    const matcher = this.#regex.matcher(text)
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
      this.lastIndex = 0
      return null
    }
    this.lastIndex = matcher.end()
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i) as string)
    return Object.assign(groups, { index: matcher.start() })
  }
}

/** Compiles a pattern. @throws Error if it cannot be matched in linear time. */
export function compile({ source, flags }: RegExp): Regex {
  const key = `${flags}/${source}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  const regex = compileRegex(source, { flags })
  if (compiled.size < MAX_COMPILED) compiled.set(key, regex)
  return regex
}
