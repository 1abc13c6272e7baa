import type { Spans } from './spans.js'

/** An escape of a URL, of JSON, of XML; whoever reads the text may undo any of them. */
const ESCAPE = /%([0-9a-f]{2})|\\u([0-9a-f]{4})|&#x([0-9a-f]{1,6});|&#(\d{1,7});|&(nbsp|amp|commat|plus);/gi
const NAMED: Readonly<Record<string, string>> = { nbsp: '\u00a0', amp: '&', commat: '@', plus: '+' }
/** An escape may itself be escaped, at most so often. */
const MOST_LAYERS = 3

/** A text with its escapes undone, and where each of its characters began; one more for the end. */
interface View {
  readonly text: string
  readonly starts: readonly number[]
}

/** Finds in a text what stands there as it is, and what its escapes hide. */
export function foundBehindEscapes(text: string, find: (text: string) => Spans): Spans {
  let spans = find(text)
  let view: View | null = null
  for (let layer = 0; layer < MOST_LAYERS; layer++) {
    const below: View | null = undone(view?.text ?? text)
    if (below === null) return spans
    view = view === null ? below : { text: below.text, starts: below.starts.map((at) => view!.starts[at]!) }
    const { starts } = view
    spans = united(
      spans,
      find(view.text).map((at) => starts[at]!),
    )
  }
  return spans
}

function undone(text: string): View | null {
  ESCAPE.lastIndex = 0
  let match = ESCAPE.exec(text)
  if (match === null) return null
  const starts: number[] = []
  let plain = ''
  let at = 0
  for (; match !== null; match = ESCAPE.exec(text)) {
    for (let i = at; i < match.index; i++) starts.push(i)
    const meant = meaning(match)
    plain += text.slice(at, match.index) + meant
    for (let i = 0; i < meant.length; i++) starts.push(match.index)
    at = ESCAPE.lastIndex
  }
  for (let i = at; i <= text.length; i++) starts.push(i)
  return { text: plain + text.slice(at), starts }
}

function meaning([all, percent, unit, hex, decimal, name]: RegExpExecArray): string {
  if (name !== undefined) return NAMED[name.toLowerCase()]!
  const code = decimal === undefined ? Number.parseInt((percent ?? unit ?? hex)!, 16) : Number(decimal)
  return code <= 0x10ffff ? String.fromCodePoint(code) : all
}

/** Two lists as one, in order and apart. */
export function united(one: Spans, other: Spans): Spans {
  if (other.length === 0) return one
  if (one.length === 0) return other
  const pairs: (readonly [number, number])[] = []
  for (const spans of [one, other])
    for (let i = 0; i < spans.length; i += 2) pairs.push([spans[i]!, spans[i + 1]!])
  pairs.sort((a, b) => a[0] - b[0])
  const all: number[] = []
  for (const [start, end] of pairs) {
    if (all.length === 0 || start >= all.at(-1)!) all.push(start, end)
    else if (end > all.at(-1)!) all[all.length - 1] = end
  }
  return all
}
