/** A pattern as the source of a JavaScript expression with the flag `v`. */
export interface TranslatedPattern {
  readonly source: string
  /** The pattern for libxml2, with its missing characters and with the separators and groups that it needs. */
  readonly completed: string
  /** Characters and classes as written, by their position in a literal with the source. */
  readonly atoms: ReadonlyMap<number, string>
  /** True if it has classes whose characters are not known exactly. */
  readonly isInexact: boolean
}

/** Classes of `.` and of escapes such as `\s`. */
const CLASSES: Readonly<Record<string, string>> = {
  s: '[ \\t\\n\\r]',
  d: '\\p{Nd}',
  w: '[^\\p{P}\\p{Z}\\p{C}]',
  i: '[:_\\p{L}\\p{Nl}]',
  c: '[\\-.:_\\u{b7}\\p{L}\\p{M}\\p{N}]',
}
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
const CATEGORY = /^(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)$/
const ANY = '[\\u{0}-\\u{10ffff}]'

/**
 * Characters that the tables of libxml2 lack, by category: ideographs and Hangul, of which it knows only the first and
 * last ones, and newer currency signs.
 */
const MISSING: Readonly<Record<string, string>> = {
  Lo: '㐀-䶿一-鿿가-힣𠀀-𪛟𪜀-𫜹𫝀-𫠝𫠠-𬺡𬺰-𮯠𰀀-𱍊𱍐-𲎯',
  Lu: 'ẞ',
  Sc: '₲-⃀',
}

const COUNT = /^\{\d+(?:,\d*)?\}/
/** Maximum nesting of groups and classes, also for libxml2. */
const MAX_DEPTH = 50

/**
 * Separator after a repeated group at the end of an alternative. Without it, libxml2 lets the group begin wherever that
 * end is reached: it matches `bc` with `a(c)*|b` and `c` with `(a(c)*)*`.
 */
const SEPARATOR = '()'

/** Message for patterns that are not valid. */
export const SYNTAX_ERROR = 'has a syntax error: see XML Schema part 2, appendix F'

/**
 * Translates a pattern. Returns an issue for classes that libxml2 misreads.
 * @param groupsCounts writes `(a){2}` for `a{2}`, because libxml2 confuses `a` and `a{2}` in the same place.
 */
export function translatePattern(
  pattern: string,
  groupsCounts: boolean,
): TranslatedPattern | { readonly issue: string } {
  try {
    return new Translator(pattern, groupsCounts).translate()
  } catch (problem) {
    if (problem instanceof Issue) return { issue: problem.message }
    throw problem
  }
}

/** Removes additions from a message that quotes a completed pattern. */
export function withoutCompletions(message: string): string {
  return [SEPARATOR, ...Object.values(MISSING)].reduce((text, added) => text.replaceAll(added, ''), message)
}

class Issue extends Error {}

class Translator {
  readonly #pattern: string
  readonly #groupsCounts: boolean
  readonly #atoms = new Map<number, string>()
  #source = ''
  #completed = ''
  #at = 0
  #depth = 0
  /** True inside a class whose complement is used. */
  #isComplement = false
  #isInexact = false

  constructor(pattern: string, groupsCounts: boolean) {
    this.#pattern = pattern
    this.#groupsCounts = groupsCounts
  }

  translate(): TranslatedPattern {
    let canRepeat = false
    while (this.#at < this.#pattern.length) {
      const letter = this.#pattern[this.#at]!
      const count = canRepeat ? this.#count() : undefined
      if (letter === '(') {
        this.#enter()
        this.#source += '(?:'
        this.#take()
        canRepeat = false
      } else if (count !== undefined || '?*+|)'.includes(letter)) {
        if (!canRepeat && '?*+'.includes(letter)) throw new Issue(SYNTAX_ERROR)
        if ('|)'.includes(letter) && /\)[*+]$/.test(this.#completed)) this.#completed += SEPARATOR
        if (letter === ')') this.#depth--
        this.#source += count ?? letter
        this.#take((count ?? letter).length)
        canRepeat = letter === ')'
      } else if ((letter === '{' && canRepeat) || letter === ']') throw new Issue(SYNTAX_ERROR)
      else {
        this.#atom()
        canRepeat = true
      }
    }
    return {
      source: this.#source || '(?:)',
      completed: this.#completed,
      atoms: this.#atoms,
      isInexact: this.#isInexact,
    }
  }

  /** Returns the count in braces at this place. */
  #count(): string | undefined {
    return COUNT.exec(this.#pattern.slice(this.#at))?.[0]
  }

  #atom(): void {
    const start = this.#at
    const position = this.#source.length + 1
    const completed = this.#completed
    this.#source += this.#peek() === '[' ? this.#class(false) : this.#single(false)
    this.#atoms.set(position, this.#pattern.slice(start, this.#at))
    if (this.#groupsCounts && this.#count() !== undefined)
      this.#completed = `${completed}(${this.#completed.slice(completed.length)})`
  }

  /** Translates `[…]` with a subtraction. */
  #class(isSubtracted: boolean): string {
    this.#enter()
    this.#take()
    const isInverse = this.#peek() === '^'
    if (isInverse) this.#take()
    if (isInverse && isSubtracted) throw new Issue('subtracts an inverse class: write its characters')
    const outer = this.#isComplement
    this.#isComplement = outer !== (isInverse || isSubtracted)
    let parts = ''
    let subtracted = ''
    while (this.#peek() !== ']' || parts === '') {
      const next = this.#pattern[this.#at + 1]
      if (parts !== '' && this.#peek() === '-') {
        if (next === '[') {
          if (isSubtracted) throw new Issue('subtracts a class with a subtraction: write its characters')
          this.#take()
          subtracted = `--${this.#class(true)}`
          break
        }
        if (isInverse || next !== ']') throw new Issue("has an unescaped hyphen in a class: write '\\-'")
      }
      parts += this.#part()
    }
    if (this.#peek() !== ']') throw new Issue(SYNTAX_ERROR)
    this.#take()
    this.#depth--
    this.#isComplement = outer
    const all = `[${isInverse ? '^' : ''}${parts}]`
    return subtracted === '' ? all : `[${all}${subtracted}]`
  }

  /** Translates a character, a range or an escape of a class. */
  #part(): string {
    const isEscape = this.#peek() === '\\'
    const letter = this.#pattern[this.#at + 1]
    if (this.#peek() === '[' || this.#peek() === ']') throw new Issue(SYNTAX_ERROR)
    if (isEscape && letter === 'P') throw new Issue(`has '\\P' in a class: write the class without brackets`)
    const from = this.#single(true)
    const next = this.#pattern[this.#at + 1]
    if (this.#peek() !== '-' || next === ']' || next === '[') return from
    if (!from.startsWith('\\u')) throw new Issue("has an unescaped hyphen in a class: write '\\-'")
    if (isEscape)
      throw new Issue('has a range that begins with an escape: write its characters, or begin one later')
    this.#take()
    if (this.#peek() === '[' || this.#peek() === ']') throw new Issue(SYNTAX_ERROR)
    return `${from}-${this.#single(true)}`
  }

  /** Translates a character or an escape. */
  #single(isInClass: boolean): string {
    if (this.#at >= this.#pattern.length) throw new Issue(SYNTAX_ERROR)
    const letter = String.fromCodePoint(this.#pattern.codePointAt(this.#at)!)
    if (letter === '\\') return this.#escape(isInClass)
    this.#take(letter.length)
    return letter === '.' && !isInClass ? '[^\\n\\r]' : literal(letter)
  }

  #escape(isInClass: boolean): string {
    const letter = this.#pattern[this.#at + 1] ?? ''
    if (letter === 'p' || letter === 'P') return this.#named(isInClass)
    this.#take(2)
    const found = CLASSES[letter.toLowerCase()]
    if (found !== undefined) return letter === letter.toLowerCase() ? found : `[^${found}]`
    if (CONTROLS[letter] === undefined && !/[^a-zA-Z0-9\s]/.test(letter)) throw new Issue(SYNTAX_ERROR)
    return literal(CONTROLS[letter] ?? letter)
  }

  /** Translates `\p{…}`, and adds the characters that libxml2 lacks. */
  #named(isInClass: boolean): string {
    const [text, letter, name] = /^\\([pP])\{([^}]*)\}/.exec(this.#pattern.slice(this.#at)) ?? []
    if (text === undefined || !(CATEGORY.test(name!) || name!.startsWith('Is'))) throw new Issue(SYNTAX_ERROR)
    const missing = Object.entries(MISSING).map(([category, more]) =>
      category.startsWith(name!) ? more : '',
    )
    const more = missing.join('')
    if (more === '') this.#take(text.length)
    else {
      this.#at += text.length
      this.#completed += isInClass ? text + more : `[${letter === 'P' ? '^' : ''}\\p{${name}}${more}]`
    }
    if (!name!.startsWith('Is')) return text
    // JavaScript has no blocks. More characters are safe, unless their complement is used.
    if (this.#isComplement || letter === 'P') this.#isInexact = true
    return ANY
  }

  #peek(): string | undefined {
    return this.#pattern[this.#at]
  }

  /** Copies letters to the completed pattern. */
  #take(count = 1): void {
    this.#completed += this.#pattern.slice(this.#at, this.#at + count)
    this.#at += count
  }

  #enter(): void {
    this.#depth++
    if (this.#depth > MAX_DEPTH) throw new Issue(`has groups nested deeper than ${MAX_DEPTH}: use fewer`)
  }
}

function literal(letter: string): string {
  return `\\u{${letter.codePointAt(0)!.toString(16)}}`
}
