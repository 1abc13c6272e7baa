import { type HeaderList, trimOws } from '@sluice/core'

/** Cookies of a request by name. A duplicate cookie has an empty value, because it is ambiguous. */
export type Cookies = ReadonlyMap<string, string>

/** Returns the value of a cookie (RFC 6265 section 4.2.1), '' if it is absent, or null if it is duplicate. */
export function cookieValue(headers: readonly string[], name: string): string | null {
  let found = ''
  for (const pair of pairsOf(headers)) {
    if (nameOf(pair) !== name) continue
    if (found !== '') return null
    found = textOf(pair)
  }
  return found
}

/** Returns all cookies of a request. */
export function readCookies(headers: readonly string[]): Cookies {
  const cookies = new Map<string, string>()
  for (const pair of pairsOf(headers)) {
    const name = nameOf(pair)
    if (name !== '') cookies.set(name, cookies.has(name) ? '' : textOf(pair))
  }
  return cookies
}

/** Removes a cookie. The others stay unchanged. */
export function removeCookie(headers: HeaderList, name: string): void {
  removeCookies(headers, (one) => one === name)
}

/** Removes the cookies that `isOut` selects. The others stay unchanged. */
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

/** Returns all cookie pairs. HTTP/2 may send several cookie lines. */
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
