import { PLAIN } from './syntax.js'
import { plainLocation, takenPart, type Visitor } from './visitor.js'

const HEADERS_END = /\r?\n\r?\n/
const NAME = /content-disposition:[^\r\n]*?[;\s]name=(?:"([^"\r\n]*)"|([^;\s]+))/i

/** Scans a multipart body (RFC 2046) as sent by forms. The first line is the boundary. */
export function scanMultipart(text: string, visitor: Visitor): boolean {
  const boundary = /^\s*(--[^\r\n]+)/.exec(text)?.[1] ?? '--'
  let isClean = true
  for (let start = text.indexOf(boundary); start !== -1; ) {
    const next = text.indexOf(`\n${boundary}`, start + 1)
    const end = next === -1 ? text.length : next
    isClean = scanPart(text, start + boundary.length, end, visitor) && isClean
    start = next === -1 ? -1 : next + 1
  }
  return isClean
}

function scanPart(text: string, start: number, partEnd: number, visitor: Visitor): boolean {
  const blank = HEADERS_END.exec(text.slice(start, partEnd))
  const headersEnd = blank === null ? partEnd : start + blank.index
  if (headersEnd > start) visitor.leaf(start, headersEnd, PLAIN, false)
  if (blank === null) return true
  const contentStart = headersEnd + blank[0].length
  const end = text[partEnd - 1] === '\r' && partEnd > contentStart ? partEnd - 1 : partEnd
  const location = plainLocation(contentStart, end, PLAIN)
  const name = NAME.exec(text.slice(start, headersEnd))
  const taken = name === null ? null : takenPart(name[1] ?? name[2]!, visitor)
  if (taken !== null) visitor.take(taken, location)
  else visitor.leaf(contentStart, end, PLAIN, false)
  // A part without a name cannot be matched by name rules.
  return name !== null
}
