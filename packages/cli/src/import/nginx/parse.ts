import { visibleText } from '@sluice/core/visible-text'
import { EXIT, Failure } from '../../output/failure.js'

/** A directive of an nginx configuration. */
export interface Directive {
  readonly name: string
  readonly args: readonly string[]
  readonly file: string
  readonly line: number
  /** Directives in braces, or null for a simple directive. */
  readonly block: Directive[] | null
}

interface Token {
  readonly kind: 'word' | ';' | '{' | '}'
  readonly text: string
  readonly line: number
}

/** Maximum nesting depth of blocks. */
const MAX_DEPTH = 50
/** Maximum length of a word, as in nginx. Longer ones would exhaust the stack of the pattern. */
const MAX_WORD = 4096
/** Characters that end a word: blanks, `;`, `{`. A `{` after `$` belongs to a variable. */
const WORD = /(?:\$\{|\\[\s\S]|[^\s;{}"'\\])(?:\$\{[^\s;{}]*\}|\\[\s\S]|[^\s;{\\]){0,4095}/y
const QUOTED = /"((?:\\[\s\S]|[^"\\]){0,4096})"|'((?:\\[\s\S]|[^'\\]){0,4096})'/y
const BLANK = /\s+|#[^\n]*/y
const ESCAPES: Readonly<Record<string, string>> = { t: '\t', r: '\r', n: '\n' }

/** Parses the text of a configuration file. @throws Failure with file and line, but without text of the file */
export function parseConfig(file: string, text: string): Directive[] {
  const root: Directive[] = []
  const open: Directive[][] = [root]
  let words: Token[] = []
  const lexer = new Lexer(file, text)
  for (let token = lexer.next(); token !== null; token = lexer.next()) {
    if (token.kind === 'word') {
      words.push(token)
      continue
    }
    const [first, ...rest] = words
    words = []
    if (token.kind === '}') {
      if (first !== undefined) throw lexer.failure(first.line, "a directive is not terminated by ';'")
      if (open.length === 1) throw lexer.failure(token.line, "unexpected '}'")
      open.pop()
      continue
    }
    if (first === undefined) throw lexer.failure(token.line, `unexpected '${token.kind}'`)
    const block: Directive[] | null = token.kind === '{' ? [] : null
    open.at(-1)?.push({ name: first.text, args: rest.map(({ text }) => text), file, line: first.line, block })
    if (block === null) continue
    if (first.text.endsWith('_by_lua_block')) lexer.skipBraces()
    else open.push(block)
    if (open.length > MAX_DEPTH)
      throw lexer.failure(token.line, `blocks are nested more than ${MAX_DEPTH} levels`)
  }
  if (words.length > 0) throw lexer.failure(words[0]!.line, "a directive is not terminated by ';'")
  if (open.length > 1) throw lexer.failure(lexer.line, "the file ends before a '}'")
  return root
}

class Lexer {
  line = 1
  readonly #file: string
  readonly #text: string
  #at = 0

  constructor(file: string, text: string) {
    this.#file = file
    this.#text = text
  }

  next(): Token | null {
    while (this.#take(BLANK) !== null);
    if (this.#at >= this.#text.length) return null
    const { line } = this
    const sign = this.#text[this.#at]!
    if (sign === ';' || sign === '{' || sign === '}') {
      this.#at++
      return { kind: sign, text: sign, line }
    }
    const quoted = this.#take(QUOTED)
    if (quoted !== null) return { kind: 'word', text: unescaped(quoted[1] ?? quoted[2] ?? ''), line }
    const word = this.#take(WORD)
    if (word === null)
      throw this.failure(line, `a quoted text is not terminated within ${MAX_WORD} characters`)
    if (word[0].length >= MAX_WORD) throw this.failure(line, `a word has more than ${MAX_WORD} characters`)
    return { kind: 'word', text: unescaped(word[0]), line }
  }

  /** Skips code in braces, such as Lua. The opening brace has been read. */
  skipBraces(): void {
    for (let depth = 1; depth > 0; this.#at++) {
      const sign = this.#text[this.#at]
      if (sign === undefined) throw this.failure(this.line, "the file ends before a '}'")
      if (sign === '\n') this.line++
      if (sign === '{') depth++
      if (sign === '}') depth--
    }
  }

  failure(line: number, reason: string): Failure {
    return new Failure(`${visibleText(this.#file)}:${line}: ${reason}`, EXIT.invalid)
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found === null) return null
    this.#at = pattern.lastIndex
    for (let i = found[0].indexOf('\n'); i >= 0; i = found[0].indexOf('\n', i + 1)) this.line++
    return found
  }
}

/** Resolves escapes as nginx does: `\"`, `\'`, `\\`, `\t`, `\r` and `\n`. All others keep their backslash. */
function unescaped(text: string): string {
  return text.includes('\\')
    ? text.replaceAll(/\\(["'\\trn])/g, (_, letter: string) => ESCAPES[letter] ?? letter)
    : text
}
