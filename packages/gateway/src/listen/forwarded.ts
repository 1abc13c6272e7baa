/** A pair in a Forwarded element (RFC 7239 section 4): a name and a bare or quoted value. */
const PAIR = /[\s;]*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*(?=;|$)/y

/** A hop described by a proxy. */
export interface ForwardedHop {
  /** Usually an address, with or without a port; `unknown` if missing. */
  readonly node: string
  /** Scheme of that hop's request, or empty if missing. */
  readonly proto: string
}

/** Parses the elements of a Forwarded value, in order. Empty elements have an empty node. */
export function forwardedHops(value: string): ForwardedHop[] {
  return elementsOf(value).map(hopOf)
}

/**
 * Splits the list at commas outside quotes. Quotes are matched from the right end, which the trusted proxy added, so
 * that a quote left open by the client cannot swallow it.
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

/**
 * Parses the pairs in sequence, so that a `for=` inside another value, such as a quoted host, is not mistaken for one.
 */
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
