import type { FieldPredicate, MatchPlan } from '@sluice/config'
import { compileRegex, type Exchange, formText, QueryCursor, type Regex } from '@sluice/core'
import type { Predicate } from './candidate.js'

/** Compiles the header and query predicates of a route, in the order of the plan. */
export function compileFieldPredicates(match: MatchPlan): Predicate[] {
  return [...match.headers.map(compileHeader), ...match.query.map(compileQuery)]
}

/** Compiles a header predicate. It holds if one line of the field matches, or with `absent` if there is no line. */
export function compileHeader(predicate: FieldPredicate): Predicate {
  // Field values are Latin-1 strings, one character per byte. Encode the configured text to match its UTF-8 bytes.
  const isText = predicate.test === 'exact' || predicate.test === 'prefix'
  const value = isText ? Buffer.from(predicate.value).toString('latin1') : predicate.value
  return new HeaderPredicate(predicate.name, new ValueTest({ ...predicate, value }))
}

/**
 * Compiles a predicate on a decoded query parameter. It holds if one parameter of that name matches, or with `absent`
 * if there is none.
 */
export function compileQuery(predicate: FieldPredicate): Predicate {
  return new QueryPredicate(predicate.name, new ValueTest(predicate))
}

/** A test of one value. */
class ValueTest {
  /** Result if no value decides. True for `absent`, which any value refutes. */
  readonly otherwise: boolean
  private readonly test: FieldPredicate['test']
  private readonly expected: string
  private readonly pattern: Regex | null

  constructor({ test, value }: FieldPredicate) {
    this.otherwise = test === 'absent'
    this.test = test
    this.expected = value
    this.pattern = test === 'regex' ? compileRegex(value) : null
  }

  /** Returns true if this value decides the result, which is then the opposite of `otherwise`. */
  decides(value: string): boolean {
    if (this.pattern !== null) return this.pattern.test(value)
    if (this.test === 'exact') return value === this.expected
    return this.test === 'prefix' ? value.startsWith(this.expected) : true
  }
}

class HeaderPredicate implements Predicate {
  private readonly name: string
  private readonly expected: ValueTest

  constructor(name: string, expected: ValueTest) {
    this.name = name
    this.expected = expected
  }

  test(x: Exchange): boolean {
    const { headers } = x
    for (let i = 0; i < headers.length; i += 2) {
      if (headers[i] === this.name && this.expected.decides(headers[i + 1]!)) return !this.expected.otherwise
    }
    return this.expected.otherwise
  }
}

class QueryPredicate implements Predicate {
  private readonly name: string
  private readonly expected: ValueTest
  private readonly cursor = new QueryCursor()

  constructor(name: string, expected: ValueTest) {
    this.name = name
    this.expected = expected
  }

  test(x: Exchange): boolean {
    const { cursor, expected } = this
    cursor.read(x.query)
    while (cursor.advance()) {
      if (cursor.hasName(this.name) && expected.decides(formText(cursor.rawValue))) return !expected.otherwise
    }
    return expected.otherwise
  }
}
