/** Receives the events of a document in order. */
export interface XmlListener {
  /**
   * Called for a start tag.
   * @param attributes alternating names and values, including namespace declarations.
   */
  open(name: string, attributes: readonly string[]): void
  /** Called for text and CDATA. Consecutive calls form one text. */
  text(text: string): void
  close(): void
}

const REFERENCES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }
const WHITE = /[\t\n]/g
/**
 * Matches one attribute of well-formed XML, or fails at the end of the tag. Uses XML white space: `\s`
 * matches more characters, some of which are name characters for a parser.
 */
const ATTRIBUTE = /[ \t\n]*([^ \t\n=/>]+)[ \t\n]*=[ \t\n]*(?:"([^"]*)"|'([^']*)')/y

/**
 * Reads a document that has been checked to be well-formed and without DOCTYPE. It needs only one pass, and
 * reports no errors.
 */
export function readXml(document: string, listener: XmlListener): void {
  const text = normalizeLineEnds(document)
  let at = text.indexOf('<')
  let depth = 0
  while (at !== -1) {
    const next = text[at + 1]
    let end: number
    if (next === '?') end = text.indexOf('?>', at + 2) + 2
    else if (next === '!') end = readCommentOrCdata(text, at, listener)
    else if (next === '/') {
      end = text.indexOf('>', at + 2) + 1
      depth--
      listener.close()
    } else {
      const tag = readStartTag(text, at, listener)
      end = tag.end
      if (tag.isOpen) depth++
    }
    at = text.indexOf('<', end)
    if (depth > 0 && at > end) listener.text(resolveReferences(text.slice(end, at)))
  }
}

/** Normalizes line ends (XML 1.0 section 2.11). */
function normalizeLineEnds(document: string): string {
  const text = document.charCodeAt(0) === 0xfeff ? document.slice(1) : document
  return text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text
}

/** Reads a comment or a CDATA section. @returns its end */
function readCommentOrCdata(text: string, at: number, listener: XmlListener): number {
  if (text.startsWith('<!--', at)) return text.indexOf('-->', at + 4) + 3
  const end = text.indexOf(']]>', at)
  listener.text(text.slice(at + '<![CDATA['.length, end))
  return end + 3
}

function readStartTag(text: string, at: number, listener: XmlListener): { end: number; isOpen: boolean } {
  let end = at + 1
  while (!isNameEnd(text.charCodeAt(end))) end++
  const name = text.slice(at + 1, end)
  const attributes: string[] = []
  ATTRIBUTE.lastIndex = end
  for (let match = ATTRIBUTE.exec(text); match !== null; match = ATTRIBUTE.exec(text)) {
    attributes.push(match[1]!, resolveReferences((match[2] ?? match[3]!).replace(WHITE, ' ')))
    end = ATTRIBUTE.lastIndex
  }
  const close = text.indexOf('>', end)
  listener.open(name, attributes)
  const isOpen = text[close - 1] !== '/'
  if (!isOpen) listener.close()
  return { end: close + 1, isOpen }
}

/** True for white space, "/" and ">". */
function isNameEnd(code: number): boolean {
  return code <= 0x20 || code === 0x2f || code === 0x3e || Number.isNaN(code)
}

/** Resolves character and entity references. */
function resolveReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&([^;]+);/g, (_, name: string) => {
    if (name[0] !== '#') return REFERENCES[name] ?? ''
    const code = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10)
    return String.fromCodePoint(code)
  })
}
