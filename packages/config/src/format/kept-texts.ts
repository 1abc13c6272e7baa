import { type Document, isScalar, parseDocument, Scalar, visit } from 'yaml'

/** Minimum length in characters of a text that is kept as written. Shorter placeholders would not be unique. */
const LEAST = 8
const HEADER = /^[|>]-?(?=[ \t]*(?:#.*)?\n)/

/** Matches most strings that need no quotes, such as paths and names. */
const WORD = /^[/A-Za-z][\w/.*@-]*$/
/** Values of YAML 1.1 that look like words. */
const KEYWORD = /^(?:y|n|yes|no|on|off|true|false|null)$/i

/** Texts of scalars that the YAML library must not fold or rewrite. Placeholders of the same length stand for them. */
export class KeptTexts {
  readonly #source: string
  readonly #prefix: string
  readonly #texts: string[] = []

  constructor(source: string) {
    this.#source = source
    let prefix = 'Q'
    while (source.includes(prefix)) prefix += 'q'
    this.#prefix = prefix
  }

  /** Removes unneeded quotes, and replaces long scalars with placeholders. */
  take(document: Document): void {
    visit(document, {
      Scalar: (key, node, path) => {
        const isFlow = path.some((part) => typeof part === 'object' && 'flow' in part && part.flow === true)
        this.#takeScalar(node, { isKey: key === 'key', isFlow })
      },
    })
  }

  /** Returns the formatted text with the kept texts in place of their placeholders. */
  restore(formatted: string): string {
    const pattern = new RegExp(`${this.#prefix}(\\d+)_*`, 'g')
    return formatted
      .split('\n')
      .map((line) => this.#restoreLine(line, pattern))
      .join('\n')
  }

  #takeScalar(node: Scalar, place: Place): void {
    if (node.tag !== undefined || !node.range) return
    const written = this.#source.slice(node.range[0], node.range[1])
    if (typeof node.value === 'number' && String(node.value) !== written) this.#keep(node, written)
    if (typeof node.value !== 'string') return
    if (written.includes('\n')) {
      if (node.type === Scalar.PLAIN || node.type?.startsWith('QUOTE') || HEADER.test(written))
        this.#keep(node, written)
      return
    }
    const isQuoted = node.type === Scalar.QUOTE_DOUBLE || node.type === Scalar.QUOTE_SINGLE
    const isBare = isQuoted && canBePlain(node.value, place)
    if (isBare) node.type = Scalar.PLAIN
    const text = isBare ? node.value : written
    if (text.length >= LEAST && (isQuoted || text.includes(' '))) this.#keep(node, text)
  }

  #keep(node: Scalar, text: string): void {
    const name = `${this.#prefix}${this.#texts.push(text) - 1}`
    node.value = name.padEnd(text.includes('\n') ? LEAST : text.length, '_')
    node.type = Scalar.PLAIN
  }

  #restoreLine(line: string, pattern: RegExp): string {
    let rest = ''
    const restored = line.replace(pattern, (_, index: string) => {
      const [first = '', ...lines] = this.#texts[Number(index)]!.split('\n')
      if (lines.length === 0) return first
      const indent = ' '.repeat(contentIndent(line, this.#prefix + index))
      const isBlock = HEADER.test(`${first}\n`)
      const below = isBlock ? blockLines(lines, indent) : flowLines(lines, indent)
      if (!isBlock) return [first.trimEnd(), ...below].join('\n')
      rest = below.map((each) => `\n${each}`).join('')
      return HEADER.exec(`${first}\n`)![0]
    })
    return restored + rest
  }
}

interface Place {
  readonly isKey: boolean
  readonly isFlow: boolean
}

/** True if a string without quotes is the same string, also for readers of YAML 1.1. */
function canBePlain(text: string, { isKey, isFlow }: Place): boolean {
  // The library quotes these, although they can be plain.
  if (/[:-]$/.test(text)) return false
  if (WORD.test(text)) return !KEYWORD.test(text)
  const member = isKey ? `${text}: 1` : `k: ${text}`
  return (['1.2', '1.1'] as const).every((version) => {
    const document = parseDocument(isFlow ? `{ ${member} }` : member, {
      version,
      schema: version === '1.2' ? 'core' : 'yaml-1.1',
    })
    const pair = (
      document.contents as {
        readonly items?: readonly { readonly key: unknown; readonly value: unknown }[]
      } | null
    )?.items?.[0]
    const node = isKey ? pair?.key : pair?.value
    return (
      document.errors.length + document.warnings.length === 0 &&
      isScalar(node) &&
      node.type === Scalar.PLAIN &&
      node.value === text &&
      !document.comment &&
      !node.comment
    )
  })
}

/** Returns the indentation of the lines below a scalar: two more than its key or the dash of its list item. */
function contentIndent(line: string, placeholder: string): number {
  const [dashes = ''] = /^ *(?:[-?:] +)*/.exec(line) ?? []
  const isItem =
    dashes.includes('- ') &&
    new RegExp(`^(?:[&!]\\S+ )*${placeholder}(?!\\d)`).test(line.slice(dashes.length))
  return (isItem ? dashes.lastIndexOf('- ') : dashes.length) + 2
}

/** Indents the lines of a block scalar. Further indentation belongs to the text. */
function blockLines(lines: readonly string[], indent: string): string[] {
  const first = lines.find((line) => line.trim() !== '') ?? ''
  const width = first.length - first.trimStart().length
  const last = lines.findLastIndex((line) => line.trim() !== '')
  return lines.slice(0, last + 1).map((line) => (line.length <= width ? '' : indent + line.slice(width)))
}

/** Indents the lines of a folded flow scalar. Blanks around line breaks have no meaning. */
function flowLines(lines: readonly string[], indent: string): string[] {
  return lines.map((line, i) => {
    const text = i < lines.length - 1 && !line.endsWith('\\ ') ? line.trim() : line.trimStart()
    return text === '' ? '' : indent + text
  })
}
