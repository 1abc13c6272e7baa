import { suggestion } from '../diagnostic/spelling.js'

/** A problem in the text of a condition. */
export interface ConditionIssue {
  readonly message: string
  /** Position in the text, starting at 0. */
  readonly offset: number
  readonly remedy: string
}

/** Remedies for words of other languages. */
const WORDS: Readonly<Record<string, string>> = {
  and: 'use &&',
  or: 'use ||',
  not: 'use !, for example !(a == b)',
  eq: 'use ==',
  is: 'use ==',
  equals: 'use ==',
  ne: 'use !=',
  gt: 'use >',
  ge: 'use >=',
  lt: 'use <',
  le: 'use <=',
  like: 'use a function, for example req.path.startsWith("/a")',
  regex: 'use a function, for example req.path.matches("^/a")',
  matches: 'use a function, for example req.path.matches("^/a")',
  contains: 'use a function, for example req.path.contains("/a")',
  startswith: 'use a function, for example req.path.startsWith("/a")',
  endswith: 'use a function, for example req.path.endsWith("/a")',
  if: 'use condition ? a : b',
  // biome-ignore lint/suspicious/noThenProperty: a word, not a method
  then: 'use condition ? a : b',
  else: 'use condition ? a : b',
  true: 'write true in lower case',
  false: 'write false in lower case',
  none: 'compare with an empty string, or use has(req.header.name)',
  nil: 'compare with an empty string, or use has(req.header.name)',
  undefined: 'compare with an empty string, or use has(req.header.name)',
}

/** Remedies for characters, by the text that starts with them. */
const CHARACTERS: readonly (readonly [RegExp, string, string])[] = [
  [/^={2,}/, '===', 'use =='],
  [/^=~/, '=~', 'use req.path.matches("^/a")'],
  [/^=/, '=', 'use == to compare'],
  [/^~/, '~', 'use req.path.matches("^/a")'],
  [/^<>/, '<>', 'use !='],
  [/^&/, '&', 'use && for a logical and'],
  [/^\|/, '|', 'use || for a logical or'],
  [/^[“”„‘’‚`´]/, 'this quote', 'use straight quotes: "text" or \'text\''],
  [/^[$@#]/, 'this character', 'write names without it, for example req.path'],
  [/^;/, ';', 'remove it'],
  [/^\{\{/, '{{', 'write names without braces, for example req.path'],
]

/** Functions by their names in other languages. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  tolower: 'lower',
  tolowercase: 'lower',
  lowercase: 'lower',
  lowerascii: 'lower',
  toupper: 'upper',
  touppercase: 'upper',
  uppercase: 'upper',
  length: 'size',
  len: 'size',
  count: 'size',
  includes: 'contains',
  regex: 'matches',
  match: 'matches',
  regexmatch: 'matches',
  cidr: 'inCidr',
  ipinrange: 'inCidr',
  tostring: 'string',
  toint: 'int',
  tonumber: 'double',
  defined: 'has',
}
const TEXT_METHODS = ['startsWith', 'endsWith', 'contains', 'matches']
const NAMES = [...TEXT_METHODS, 'size', 'lower', 'upper', 'string', 'int', 'double', 'bool', 'has', 'inCidr']
const BODY_METHODS = ['json', 'xml']
const TOKENS: Readonly<Record<string, string>> = {
  LPAREN: "'('",
  RPAREN: "')'",
  LBRACKET: "'['",
  RBRACKET: "']'",
  LBRACE: "'{'",
  RBRACE: "'}'",
  COMMA: "','",
  COLON: "':'",
  DOT: "'.'",
  IDENTIFIER: 'a name',
  NUMBER: 'a number',
  STRING: 'a string',
  EOF: 'the end of the condition',
}
const GUIDE = 'see docs/guides/conditions.md for the syntax'

/** Explains a syntax error for which the message of the parser is not helpful. */
export function explainSyntax(summary: string, offset: number, text: string): ConditionIssue {
  return (
    textIssue(text, summary, offset) ??
    operatorIssue(text, offset, summary) ??
    callIssue(summary, offset) ?? { message: plainSummary(summary), offset, remedy: typeRemedy(summary) }
  )
}

/** Explains an empty or unfinished condition, and mistakes with quotes and brackets. */
function textIssue(text: string, summary: string, offset: number): ConditionIssue | null {
  if (text.trim() === '')
    return { message: 'the condition is empty', offset: 0, remedy: 'write it, or remove the key' }
  if (summary.startsWith('unexpected token: EOF') || summary.endsWith('got EOF'))
    return { message: 'the condition is not complete', offset, remedy: 'add the missing part at the end' }
  if (summary.startsWith('unterminated string'))
    return {
      message: 'the string that starts here has no closing quote',
      offset,
      remedy: `add ${text[offset]}`,
    }
  if (/\bin\s*\([^)]*$/.test(text.slice(0, offset)) && summary.endsWith('got COMMA'))
    return { message: "a list after 'in' needs square brackets", offset, remedy: 'write in ["a", "b"]' }
  // The word that follows a string directly: the string ended too early.
  if (/\w/.test(text[offset] ?? '') && /['"]\w*$/.test(text.slice(0, offset)))
    return {
      message: 'a string ends before this word',
      offset,
      remedy: 'use the other kind of quotes for a string that contains a quote',
    }
  return null
}

/** Explains operators and words of other languages. */
function operatorIssue(text: string, offset: number, summary: string): ConditionIssue | null {
  if (!/^(unexpected|expected|reserved|unknown variable|no such overload)/.test(summary)) return null
  const isCharacter = /^unexpected (character|token)/.test(summary)
  // The second `=` of `===`, or the `>` of `<>`, is what the parser does not expect.
  const starts = text.slice(0, offset).endsWith('==') ? 2 : text[offset - 1] === '<' ? 1 : 0
  const at = offset - starts
  const place = text.startsWith('{{') ? 0 : at
  for (const [pattern, name, remedy] of isCharacter || place === 0 ? CHARACTERS : []) {
    if (!pattern.test(text.slice(place))) continue
    const message = name.startsWith('this') ? `${name} is not allowed` : `'${name}' is not an operator`
    return { message, offset: place, remedy }
  }
  const before = /\w*$/.exec(text.slice(0, offset))![0]
  const word = before + /^\w*/.exec(text.slice(offset))![0]
  const start = offset - before.length
  if (/^\d+[a-z]+$/i.test(word))
    return { message: `'${word}' is not a number`, offset: start, remedy: 'write the number without a unit' }
  const not = /\bnot\s+$/i.exec(text.slice(0, start))
  if (not !== null)
    return { message: "'not' is not part of the language", offset: not.index, remedy: WORDS['not']! }
  const remedy = Object.hasOwn(WORDS, word.toLowerCase()) ? WORDS[word.toLowerCase()] : undefined
  if (remedy === undefined) return null
  return { message: `'${word}' is not part of the language`, offset: start, remedy }
}

/** Explains a call of an unknown function, or one with the wrong arguments. */
function callIssue(summary: string, offset: number): ConditionIssue | null {
  const [, receiver, name] = /matching overload for '(?:(.+)\.)?(\w+)\(/.exec(summary) ?? []
  if (name === undefined) return null
  if (TEXT_METHODS.includes(name) && receiver === undefined)
    return { message: `'${name}' is called on a string`, offset, remedy: `write req.path.${name}("...")` }
  if (NAMES.includes(name))
    return { message: `wrong arguments for '${name}': ${/'(.*)'/.exec(summary)?.[1]}`, offset, remedy: GUIDE }
  const word = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined
  if (word !== undefined) return { message: `unknown function '${name}'`, offset, remedy: word }
  const other = OTHER_NAMES[name.toLowerCase()]
  const known = receiver === 'Body' ? BODY_METHODS : NAMES
  const remedy =
    other === undefined ? suggestion(name, known, `functions: ${known.join(', ')}`) : `use ${other}`
  return { message: `unknown function '${name}'`, offset, remedy }
}

function plainSummary(summary: string): string {
  return summary.replaceAll(/\b[A-Z]{3,}\b/g, (token) => TOKENS[token] ?? token)
}

function typeRemedy(summary: string): string {
  const [, left, operator, right] = /^no such overload: (\S+) (\S+) (\S+)$/.exec(summary) ?? []
  if (/^no such overload: !/.test(summary)) return 'compare the value, for example with == ""'
  if (right === 'null' || left === 'null') return 'compare with an empty string, or use has(req.header.name)'
  if (left === 'string' && (right === 'int' || right === 'double'))
    return operator === '+' ? 'convert it: string(1)' : 'quote the number, or convert the text: int(...)'
  if (right === 'string' && (left === 'int' || left === 'double'))
    return 'remove the quotes around the number'
  return GUIDE
}
