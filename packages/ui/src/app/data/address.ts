import { useEffect, useState } from 'preact/hooks'

/** Parts of an address such as `#/log/ID` or `#/log?status=5xx`. */
export interface Address {
  readonly page: string
  readonly id: string | null
  readonly query: URLSearchParams
}

/** Returns the current address, and renders again when it changes. */
export function useAddress(): Address {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const change = (): void => setHash(location.hash)
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])
  return parseAddress(hash)
}

/** Parses the hash of an address. */
export function parseAddress(hash: string): Address {
  const [, page = '', id, query = ''] = /^#\/([a-z-]*)(?:\/([^?]+))?(?:\?(.*))?$/.exec(hash) ?? []
  return { page, id: id === undefined ? null : decoded(id), query: new URLSearchParams(query) }
}

/** Returns the hash of a page, without absent and empty parameters. */
export function hashOf(
  page: string,
  id: string | null,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const present = Object.entries(parameters).filter(([, value]) => value !== '')
  const query = present.length === 0 ? '' : `?${new URLSearchParams(present)}`
  return `#/${page}${id === null ? '' : `/${encodeURIComponent(id)}`}${query}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
