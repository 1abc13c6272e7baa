/** One pair of an element (RFC 7239 section 4): a name and its value, bare or in quotes. */
const PAIR = /[\s;]*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*(?=;|$)/y

/** The hops that a Forwarded value names with `for`, in its order; `unknown` for an element without one. */
export function forwardedHops(value: string): string[] {
  return elementsOf(value).map(forOf)
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
function forOf(element: string): string {
  PAIR.lastIndex = 0
  for (let pair = PAIR.exec(element); pair !== null; pair = PAIR.exec(element)) {
    const [, name, quoted, bare] = pair
    if (name!.toLowerCase() === 'for') return quoted === undefined ? bare! : quoted.replace(/\\(.)/g, '$1')
  }
  return 'unknown'
}
