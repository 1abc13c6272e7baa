import { canonicalPath, type Exchange, type HeaderList, headerJoined } from '@sluice/core'
import type { Violation } from '../../engines/json-schema/violations.js'
import type { Operation } from './operation.js'
import type { TextValue } from './parameter.js'
import {
  decodeForm,
  decodeUrl,
  type Pairs,
  pairsOf,
  type TextReading,
  UnreadableText,
  valueInPairs,
  valueInText,
} from './text-value.js'

/** Returns the violations of the path, query, header fields and cookies of a request. */
export function checkParts(
  x: Exchange,
  operation: Operation,
  {
    texts,
    rejectsUnknown,
  }: { readonly texts: ReadonlyMap<string, string>; readonly rejectsUnknown: boolean },
): Violation[] {
  const violations: Violation[] = []
  const path = operation.checks.get('path')
  if (path !== undefined)
    violations.push(...path((of, how) => textOf(of, texts.get(of.name), { ...how, decode: decodeUrl })))
  violations.push(...checkQuery(x.query, operation, rejectsUnknown))
  const header = operation.checks.get('header')
  if (header !== undefined) violations.push(...header((of, how) => headerText(of, x.headers, how)))
  const cookie = operation.checks.get('cookie')
  if (cookie !== undefined) {
    const pairs = cookiesOf(x.headers)
    violations.push(...cookie((of, how) => valueInPairs(of, pairs, { ...how, decode: decodeUrl })))
  }
  return violations
}

/** Reads a header field as a value. @throws UnreadableText */
export function headerText(of: TextValue, headers: HeaderList, how: Omit<TextReading, 'decode'>): unknown {
  return textOf(of, headerJoined(headers, of.name) ?? undefined, { ...how, decode: (text) => text })
}

function textOf(of: TextValue, text: string | undefined, how: TextReading): unknown {
  return text === undefined ? undefined : valueInText(of, text, how)
}

function checkQuery(query: string, operation: Operation, rejectsUnknown: boolean): Violation[] {
  const check = operation.checks.get('query')
  if (check === undefined && !rejectsUnknown) return []
  let pairs: Pairs
  try {
    pairs = pairsOf(query, '&', decodeForm)
  } catch (error) {
    if (error instanceof UnreadableText) return [`query ${error.message}`]
    throw error
  }
  const violations =
    check === undefined ? [] : check((of, how) => valueInPairs(of, pairs, { ...how, decode: decodeForm }))
  if (rejectsUnknown && [...pairs.keys()].some((name) => !operation.knowsQuery(name)))
    violations.push('query has a parameter that is not described')
  return violations
}

/** Reads cookies. Servers ignore blanks around the name, as in `a = 1`, so they are trimmed here, too. */
function cookiesOf(headers: HeaderList): Pairs {
  const lines: string[] = []
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'cookie') lines.push(headers[i + 1]!)
  return pairsOf(lines.join(';'), ';', (name) => name.trim())
}

/** Returns the canonical form of a base path. @throws Error for an invalid path. */
export function canonicalBase(basePath: string): string {
  if (basePath === '') return ''
  const canonical = canonicalPath(basePath)
  if (canonical === null) throw new Error(`'${basePath}' is not a path: use a form such as /api/v1`)
  return canonical
}
