import { compileRegex, type Regex } from '@sluice/core'

/** Compiled patterns by source and flags; an expression has as many as it has literals. */
const compiled = new Map<string, Regex>()
/** Patterns that are kept. */
const MAX_COMPILED = 1000

/**
 * A class that takes the place of RegExp in the evaluation of expressions: the same `exec`, in time linear in the text,
 * and not longer in all than an evaluation may take, because the functions that look for all matches see no clock.
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
      throw new RangeError('an expression looks for matches for too long')
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

/** @throws Error for a pattern that cannot be matched in linear time. */
export function compile({ source, flags }: RegExp): Regex {
  const key = `${flags}/${source}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  const regex = compileRegex(source, { flags })
  if (compiled.size < MAX_COMPILED) compiled.set(key, regex)
  return regex
}
