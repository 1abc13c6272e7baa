import type { FieldPredicate, MatchPlan } from '@sluice/config'
import { compileRegex, type Exchange, formText, QueryCursor, type Regex } from '@sluice/core'
import type { Predicate } from './candidate.js'

/** The predicates of a route on headers and query parameters, in the order of the plan. */
export function compileFieldPredicates(match: MatchPlan): Predicate[] {
  return [...match.headers.map(compileHeader), ...match.query.map(compileQuery)]
}

/** A predicate on a header: it holds when one line of the field passes, `absent` when there is no line. */
export function compileHeader(predicate: FieldPredicate): Predicate {
  // A field holds one character for each byte, a document text: it means its bytes in UTF-8.
  const isText = predicate.test === 'exact' || predicate.test === 'prefix'
  const value = isText ? Buffer.from(predicate.value).toString('latin1') : predicate.value
  return new HeaderPredicate(predicate.name, new ValueTest({ ...predicate, value }))
}

/** A predicate on a decoded query parameter: it holds when one of that name passes, `absent` when there is none. */
export function compileQuery(predicate: FieldPredicate): Predicate {
  return new QueryPredicate(predicate.name, new ValueTest(predicate))
}

/** What is asked of one value. */
class ValueTest {
  /** The answer when no value passes: true for `absent`, whose values all fail to pass. */
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

  /** Whether this value decides the question, against `otherwise`. */
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
