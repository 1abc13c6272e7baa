import { escapedForRegex, PLAIN, type Syntax, XML_TEXT } from './syntax.js'
import { plainLocation, type Visitor } from './visitor.js'

const TAG = /<(\/?)([^\s<>/"'=]+)/y
const ATTRIBUTE = /\s*([^\s=<>"'/]+)(?:\s*=\s*(?:"([^"]*)("?)|'([^']*)('?)|([^\s"'<>]*)))?/dy
/** Start and end of sections that are not elements. */
const SECTIONS: readonly (readonly [string, string])[] = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
  ['<!', '>'],
]

/** Scans XML, which may be truncated. Names match with and without their prefix. */
export function scanXml(text: string, visitor: Visitor): boolean {
  return new XmlScanner(text, visitor).scan()
}

class XmlScanner {
  readonly #text: string
  readonly #visitor: Visitor
  #at = 0
  #isClean = true

  constructor(text: string, visitor: Visitor) {
    this.#text = text
    this.#visitor = visitor
  }

  scan(): boolean {
    while (this.#at < this.#text.length) {
      const next = this.#text.indexOf('<', this.#at)
      const end = next === -1 ? this.#text.length : next
      this.#leaf(this.#at, end, XML_TEXT)
      this.#at = end
      if (end < this.#text.length && !this.#section()) this.#tag()
    }
    return this.#isClean
  }

  #section(): boolean {
    const section = SECTIONS.find(([opening]) => this.#text.startsWith(opening, this.#at))
    if (section === undefined) return false
    const [opening, closing] = section
    const start = this.#at + opening.length
    const found = this.#text.indexOf(closing, start)
    const end = found === -1 ? this.#text.length : found
    this.#leaf(start, end, PLAIN)
    // Elements in comments and values of entities are not scanned here.
    if (opening !== '<![CDATA[') this.#isClean = false
    this.#at = Math.min(this.#text.length, end + closing.length)
    return true
  }

  #tag(): void {
    TAG.lastIndex = this.#at
    const match = TAG.exec(this.#text)
    if (match === null) {
      // A `<` that starts no tag is text.
      this.#isClean = false
      this.#at++
      return
    }
    const [start, name] = [this.#at, match[2]!]
    this.#at = TAG.lastIndex
    this.#attributes()
    const isEmpty = this.#text[this.#at - 1] === '/'
    if (this.#text[this.#at] === '>') this.#at++
    else this.#isClean = false
    const taken = match[1] === '' && !isEmpty ? this.#takenName(name) : null
    if (taken !== null) this.#takeElement(start, name, taken)
  }

  /** Advances to the end of the tag, or to the first text that is not an attribute. */
  #attributes(): void {
    for (;;) {
      ATTRIBUTE.lastIndex = this.#at
      const match = ATTRIBUTE.exec(this.#text)
      if (match === null) break
      this.#at = ATTRIBUTE.lastIndex
      const value = match.indices?.[2] ?? match.indices?.[4] ?? match.indices?.[6]
      if (value === undefined) continue
      const location = plainLocation(value[0], value[1], XML_TEXT)
      const taken = this.#takenName(match[1]!)
      const [start] = match.indices![0]!
      if (taken === null) this.#leaf(value[0], value[1], XML_TEXT)
      else this.#visitor.take(taken, { ...location, outer: () => [start, this.#at] })
    }
    while (/[\s/]/.test(this.#text[this.#at] ?? '')) this.#at++
  }

  #takeElement(tagStart: number, name: string, taken: string): void {
    const start = this.#at
    const [end, outerEnd] = elementEnd(this.#text, name, start)
    const content = this.#text.slice(start, end)
    const isContainer = content.replace(/<!\[CDATA\[[\s\S]*?\]\]>/g, '').includes('<')
    const location = plainLocation(start, end, XML_TEXT)
    this.#visitor.take(taken, { ...location, isContainer, outer: () => [tagStart, outerEnd] })
    this.#at = outerEnd
  }

  #takenName(name: string): string | null {
    if (this.#visitor.takes(name)) return name
    const local = name.slice(name.indexOf(':') + 1)
    return local !== name && this.#visitor.takes(local) ? local : null
  }

  #leaf(start: number, end: number, syntax: Syntax): void {
    if (end > start) this.#visitor.leaf(start, end, syntax, false)
  }
}

/**
 * Returns the ends of an element's content and of its closing tag. Skips nested elements with the same name.
 */
function elementEnd(text: string, name: string, from: number): readonly [number, number] {
  const escaped = escapedForRegex(name)
  const tag = new RegExp(`<(/?)${escaped}(?=[\\s/>])[^<>]*?(/?)>`, 'g')
  tag.lastIndex = from
  let depth = 1
  for (let match = tag.exec(text); match !== null; match = tag.exec(text)) {
    if (match[1] === '/') depth--
    else if (match[2] === '') depth++
    if (depth === 0) return [match.index, tag.lastIndex]
  }
  return [text.length, text.length]
}
