import { endOfLines } from './lines.js'
import { escapedForRegex, PLAIN } from './syntax.js'
import { plainLocation, type Scan } from './visitor.js'

/** Start of a closing tag before the name. */
const CLOSING = /<\/[\w.:-]*$/

const NOT_BLANK = /[^ \t\r\n]/g
/** Number of characters to examine after the first non-blank one to decide whether there is a value. */
const SEEN = 256

/**
 * Scans text of unknown format for names followed by a value: `name: value`, `name=value`, `"name":"value"`,
 * `<name>value<`. An unquoted value extends to the end of the line and over its continuation lines. That may
 * include too much, which is safer than too little.
 */
export function looseScan(names: readonly string[]): Scan {
  const any = names.map(escapedForRegex).join('|')
  const pattern = new RegExp(
    `(?<![\\w-])(${any})(?:\\\\{0,3}["'\\]]{0,2}\\s{0,8}(?:=>|[:=])[ \\t]{0,8}(\\\\{0,3}["'])?|(?:\\s[^<>]{0,200})?>)`,
    'gi',
  )
  return (text, visitor) => {
    pattern.lastIndex = 0
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const start = pattern.lastIndex
      const isElement = /[^=]>$/.test(match[0])
      const closing = isElement ? '<' : match[2]
      const isClosing = isElement && CLOSING.test(text.slice(Math.max(0, match.index - 64), match.index))
      // If nothing is taken, the scan continues here, so the end of the value need not be found.
      NOT_BLANK.lastIndex = start
      const first = NOT_BLANK.exec(text)?.index ?? text.length
      const seen = text.slice(0, first + SEEN)
      const isEmpty = valueEnd(seen, match.index, start, closing) === start
      if (isEmpty || isClosing || !visitor.takes(match[1]!)) continue
      const end = valueEnd(text, match.index, start, closing)
      const outer = (): readonly [number, number] => [match.index, end]
      visitor.take(match[1]!, { ...plainLocation(start, end, PLAIN), outer })
      pattern.lastIndex = end
    }
    return true
  }
}

function valueEnd(text: string, nameAt: number, start: number, closing: string | undefined): number {
  if (closing === undefined) return endOfLines(text, nameAt, start)
  if (closing === '<' || closing.length > 1) {
    const end = text.indexOf(closing, start)
    return end === -1 ? text.length : end
  }
  // A quote within the value is escaped by a backslash or, in YAML, by doubling it.
  for (let at = start; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === closing) {
      if (closing !== "'" || text[at + 1] !== closing) return at
      at++
    }
  }
  return text.length
}
