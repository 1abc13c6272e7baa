/** One thing that is matched, and how often. */
interface Term {
  /** The source of one character, of a class or of an assertion; of the whole group for a group. */
  readonly source: string
  readonly group: Group | null
  /** Exactly once, so that it marks a boundary. */
  readonly isSingle: boolean
  /** A varying number of times, more than once. */
  readonly isLoop: boolean
}

interface Group {
  readonly source: string
  readonly alternatives: readonly (readonly Term[])[]
}

/**
 * The first group in a valid regular expression that is repeated, repeats something inside, and has no boundary: no
 * character at the beginning or end of every alternative that the repeated insides cannot match. Null when there is
 * none.
 */
export function findRiskyLoop(source: string): string | null {
  return riskyIn(new Reader(source).group(''))
}

function riskyIn(group: Group): string | null {
  for (const term of group.alternatives.flat()) {
    if (term.group === null) continue
    const inner = riskyIn(term.group)
    if (inner !== null) return inner
    if (term.isLoop && hasLoop(term.group) && !isDelimited(term.group)) return term.group.source
  }
  return null
}

function hasLoop(group: Group): boolean {
  return group.alternatives.flat().some((term) => term.isLoop || (term.group !== null && hasLoop(term.group)))
}

function isDelimited(group: Group): boolean {
  const looped = loopedSources(group, false)
  return group.alternatives.every((terms) => {
    const [first, last] = [terms[0], terms.at(-1)]
    return isBoundary(first, looped) || isBoundary(last, looped)
  })
}

/** The sources of single characters that a loop in the group can match. */
function loopedSources(group: Group, isInLoop: boolean): string[] {
  return group.alternatives.flat().flatMap((term) => {
    const isLooped = isInLoop || term.isLoop
    if (term.group !== null) return loopedSources(term.group, isLooped)
    return isLooped ? [term.source] : []
  })
}

function isBoundary(term: Term | undefined, looped: readonly string[]): boolean {
  if (term === undefined || !term.isSingle || term.group !== null) return false
  const character = literalOf(term.source)
  return character !== null && !looped.some((source) => new RegExp(`^(?:${source})$`, 's').test(character))
}

/** The character that a source stands for alone, or null. */
function literalOf(source: string): string | null {
  if (/^[^\\[.^$]$/.test(source)) return source
  return /^\\[^a-zA-Z0-9]$/.test(source) ? source.slice(1) : null
}

/** Reads a regular expression that the engine has accepted; what it accepts, this reads. */
class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** Reads up to the closing parenthesis or the end. */
  group(opening: string): Group {
    const start = this.#at - opening.length
    const alternatives: Term[][] = [[]]
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at++
        alternatives.push([])
      } else {
        alternatives.at(-1)!.push(this.#term())
      }
    }
    this.#at++
    return { source: this.#source.slice(start, this.#at), alternatives }
  }

  #term(): Term {
    const start = this.#at
    const opening = this.#take(/\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/y)
    const group = opening === '' ? null : this.group(opening)
    if (group === null) this.#atom()
    const source = this.#source.slice(start, this.#at)
    const [least, most] = this.#quantifier()
    return { source, group, isSingle: least === 1 && most === 1, isLoop: most > 1 && most > least }
  }

  #atom(): void {
    const patterns = [
      /\[(?:\\[\s\S]|[^\]\\])*\]/y,
      /\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|c[A-Za-z]|k<[^>]*>|\d+|[\s\S])/y,
    ]
    if (!patterns.some((pattern) => this.#take(pattern) !== '')) this.#at++
  }

  /** The least and the greatest number of times; `{` without a count stands for itself. */
  #quantifier(): [number, number] {
    const quantifier = this.#take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y)
    if (quantifier.startsWith('*')) return [0, Number.POSITIVE_INFINITY]
    if (quantifier.startsWith('+')) return [1, Number.POSITIVE_INFINITY]
    if (quantifier.startsWith('?')) return [0, 1]
    const counts = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier)
    if (counts === null) return [1, 1]
    const least = Number(counts[1])
    if (counts[2] === '') return [least, least]
    return [least, counts[3] === '' ? Number.POSITIVE_INFINITY : Number(counts[3])]
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const taken = pattern.exec(this.#source)?.[0] ?? ''
    this.#at += taken.length
    return taken
  }
}
