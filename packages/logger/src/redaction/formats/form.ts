import { QueryCursor } from '@sluice/core'
import { FORM_VALUE, PLAIN } from './syntax.js'
import { plainLocation, takenPart, type Visitor } from './visitor.js'

/** Scans a form or query: `name=value&…`. */
export function scanForm(text: string, visitor: Visitor): boolean {
  return scanPairs(text, 0, visitor)
}

/** Scans a URL: the part before the question mark, and the query. */
export function scanUrl(text: string, visitor: Visitor): boolean {
  const mark = text.indexOf('?')
  visitor.leaf(0, mark, PLAIN, false)
  return scanPairs(text, mark + 1, visitor)
}

function scanPairs(text: string, from: number, visitor: Visitor): boolean {
  const cursor = new QueryCursor()
  cursor.read(text, from)
  while (cursor.advance()) scanPair(text, cursor, visitor)
  // A plus means a space, but many clients send an unescaped plus, for example in a phone number. So the text
  // is scanned both ways.
  return !text.includes('+')
}

function scanPair(text: string, { start, equals, end, rawName }: QueryCursor, visitor: Visitor): void {
  if (equals === end) {
    if (end > start) visitor.leaf(start, end, FORM_VALUE, false)
    return
  }
  const taken = visitor.mayMatter(start, equals) ? takenPart(FORM_VALUE.decode(rawName), visitor) : null
  const location = plainLocation(equals + 1, end, FORM_VALUE)
  if (taken === null) {
    visitor.leaf(start, equals, FORM_VALUE, false)
    visitor.leaf(equals + 1, end, FORM_VALUE, false)
    return
  }
  const outer = (changedEnd: number): readonly [number, number] =>
    start > changedEnd ? [start - 1, end] : [start, Math.min(text.length, end + 1)]
  visitor.take(taken, { ...location, outer })
}
