import { type HeaderList, trimOws } from '@sluice/core'

/** The cookies of a request by name; one that stands twice has no value, because nobody knows which one is meant. */
export type Cookies = ReadonlyMap<string, string>

/** The value of a cookie (RFC 6265 section 4.2.1): '' when it is absent, null when it stands more than once. */
export function cookieValue(headers: readonly string[], name: string): string | null {
  let found = ''
  for (const pair of pairsOf(headers)) {
    if (nameOf(pair) !== name) continue
    if (found !== '') return null
    found = textOf(pair)
  }
  return found
}

/** All cookies of a request. */
export function readCookies(headers: readonly string[]): Cookies {
  const cookies = new Map<string, string>()
  for (const pair of pairsOf(headers)) {
    const name = nameOf(pair)
    if (name !== '') cookies.set(name, cookies.has(name) ? '' : textOf(pair))
  }
  return cookies
}

/** Takes a cookie out; the others stay as they are. */
export function removeCookie(headers: HeaderList, name: string): void {
  removeCookies(headers, (one) => one === name)
}

/** Takes the cookies of such names out; the others stay as they are. */
export function removeCookies(headers: HeaderList, isOut: (name: string) => boolean): void {
  let kept = 0
  for (let i = 0; i < headers.length; i += 2) {
    let value = headers[i + 1]!
    if (headers[i] === 'cookie') {
      value = value
        .split(';')
        .filter((pair) => !isOut(nameOf(pair)))
        .join(';')
        .trim()
      if (value === '') continue
    }
    headers[kept] = headers[i]!
    headers[kept + 1] = value
    kept += 2
  }
  headers.length = kept
}

/** HTTP/2 may bring cookies in several lines. */
function pairsOf(headers: readonly string[]): string[] {
  return headers.flatMap((value, i) => (i % 2 === 1 && headers[i - 1] === 'cookie' ? value.split(';') : []))
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=')
  return equals === -1 ? '' : trimOws(pair.slice(0, equals))
}

function textOf(pair: string): string {
  const value = trimOws(pair.slice(pair.indexOf('=') + 1))
  return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
}
