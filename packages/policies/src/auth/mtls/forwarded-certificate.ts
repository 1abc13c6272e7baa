import { X509Certificate } from 'node:crypto'
import { type ClientCertificate, certificateFacts } from '@sluice/core'

/** Element to use if there are several. */
export type ElementChoice = 'only' | 'first' | 'last'

/** Limits: length of a value in characters, elements and pairs in it. */
const MAX_VALUE = 16_384
const MAX_ELEMENTS = 20
const MAX_PAIRS = 100

/** Matches `key=value` and its end: the next pair, the next element, or nothing. */
const PAIR = /([A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^",;\\]*))([;,]|$)/y

type Element = ReadonlyMap<string, readonly string[]>

/**
 * Reads the certificate from `x-forwarded-client-cert`, in Envoy's format. Returns null if the value is
 * malformed, or has several elements although only one is allowed.
 */
export function forwardedCertificate(value: string, choice: ElementChoice): ClientCertificate | null {
  const elements = elementsOf(value)
  if (elements === null || (choice === 'only' && elements.length > 1)) return null
  const element = elements.at(choice === 'last' ? -1 : 0)
  return element === undefined ? null : certificateOf(element)
}

function elementsOf(value: string): readonly Element[] | null {
  if (value.length > MAX_VALUE) return null
  const elements: Map<string, string[]>[] = [new Map()]
  PAIR.lastIndex = 0
  for (let pairs = 0; pairs < MAX_PAIRS && elements.length <= MAX_ELEMENTS; pairs++) {
    const pair = PAIR.exec(value)
    if (pair === null) return null
    const [, key, quoted, plain, end] = pair as unknown as [string, string, string?, string?, string?]
    const name = key.toLowerCase()
    const text = quoted === undefined ? plain! : unquoted(name, quoted)
    const values = elements.at(-1)!.get(name)
    if (values === undefined) elements.at(-1)!.set(name, [text])
    else values.push(text)
    if (end === '') return elements
    if (end === ',') {
      elements.push(new Map())
      while (value[PAIR.lastIndex] === ' ') PAIR.lastIndex++
    }
  }
  return null
}

/** Quotes in a subject stay escaped, because the distinguished name is parsed later. */
function unquoted(name: string, text: string): string {
  return name === 'subject' ? text : text.replaceAll('\\"', '"')
}

/**
 * Returns the certificate of an element. The hash must occur exactly once. Otherwise a certificate with a
 * name that contains `;Cert=` or `;Hash=` could pass for another one.
 */
function certificateOf(element: Element): ClientCertificate | null {
  const fingerprint = single(element, 'hash')?.toLowerCase() ?? ''
  const subject = single(element, 'subject')
  const encoded = single(element, 'cert')
  if (!/^[0-9a-f]{64}$/.test(fingerprint) || subject === null || encoded === null) return null
  if (encoded !== '') return decodedCertificate(encoded, fingerprint)
  const names = [
    ...(element.get('dns') ?? []).map((name) => `DNS:${name}`),
    ...(element.get('uri') ?? []).filter((name) => name !== '').map((name) => `URI:${name}`),
  ]
  return { subject, issuer: '', names, serial: '', fingerprint, expiresAt: Number.POSITIVE_INFINITY }
}

/** Returns '' if the key is missing, or null if it occurs twice. */
function single(element: Element, name: string): string | null {
  const values = element.get(name)
  if (values === undefined) return ''
  return values.length === 1 ? values[0]! : null
}

function decodedCertificate(encoded: string, fingerprint: string): ClientCertificate | null {
  try {
    const facts = certificateFacts(new X509Certificate(decodeURIComponent(encoded)))
    return facts.fingerprint === fingerprint ? facts : null
  } catch {
    return null
  }
}
