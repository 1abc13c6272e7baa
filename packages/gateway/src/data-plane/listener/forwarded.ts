/** One pair of an element (RFC 7239 section 4): a name and its value, bare or in quotes. */
const PAIR = /[\s;]*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*(?=;|$)/y

/** What a proxy says of whom it got the request from. */
export interface ForwardedHop {
  /** An address, mostly, with or without a port; `unknown` when nothing is said. */
  readonly node: string
  /** The scheme of that request; empty when nothing is said. */
  readonly proto: string
}

/** The elements of a Forwarded value, in its order; empty ones have an empty node. */
export function forwardedHops(value: string): ForwardedHop[] {
  return elementsOf(value).map(hopOf)
}

/**
 * The elements of the list, cut at commas outside quotes. Quotes are paired from the right end, which is what a
 * trusted proxy has added: a quote that the client left open must not swallow it.
 */
function elementsOf(value: string): string[] {
  const elements: string[] = []
  let end = value.length
  let isQuoted = false
  for (let i = value.length - 1; i >= 0; i--) {
    const unit = value[i]
    if (unit === '"' && !isEscaped(value, i)) isQuoted = !isQuoted
    if (unit !== ',' || isQuoted) continue
    elements.push(value.slice(i + 1, end))
    end = i
  }
  elements.push(value.slice(0, end))
  return elements.reverse()
}

function isEscaped(value: string, at: number): boolean {
  let backslashes = 0
  while (value[at - backslashes - 1] === '\\') backslashes++
  return backslashes % 2 === 1
}

/** Pairs are read one after the other, so that a `for=` inside another value, such as a quoted host, is not one. */
function hopOf(element: string): ForwardedHop {
  if (element.trim() === '') return { node: '', proto: '' }
  let node = 'unknown'
  let proto = ''
  PAIR.lastIndex = 0
  for (let pair = PAIR.exec(element); pair !== null; pair = PAIR.exec(element)) {
    const [, name, quoted, bare] = pair
    const value = quoted === undefined ? bare! : quoted.replace(/\\(.)/g, '$1')
    if (name!.toLowerCase() === 'for') node = node === 'unknown' ? value || 'unknown' : 'twice'
    else if (name!.toLowerCase() === 'proto') proto = value.toLowerCase()
  }
  return { node, proto }
}
