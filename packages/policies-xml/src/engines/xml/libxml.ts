/** The libxml2 library after loading. `raw` contains functions that its classes do not expose. */
export type Libxml = typeof import('libxml2-wasm') & {
  readonly raw: typeof import('libxml2-wasm/lib/libxml2.mjs')
}

let loading: Promise<Libxml> | null = null
let loaded: Libxml | null = null

/**
 * Loads the library, which takes about 90 ms and 30 MB, so gateways without XML skip it. Code that compiles something
 * for XML must await this first; then `libxml()` returns the library.
 */
export function loadLibxml(): Promise<Libxml> {
  loading ??= load()
  return loading
}

async function load(): Promise<Libxml> {
  const [library, raw] = await Promise.all([import('libxml2-wasm'), import('libxml2-wasm/lib/libxml2.mjs')])
  loaded = { ...library, raw }
  return loaded
}

/** Returns the library, for synchronous code. @throws Error if the library is not loaded */
export function libxml(): Libxml {
  if (loaded === null) throw new Error('libxml2 is not loaded; await loadLibxml() while compiling')
  return loaded
}

/** Returns true if the library is loaded. */
export function isLibxmlLoaded(): boolean {
  return loaded !== null
}

/** Returns the libxml2 address of a document or a node. The library's classes have it in private fields. */
export function addressOf(owner: object): number {
  const { _ptr, _nodePtr } = owner as { readonly _ptr?: number; readonly _nodePtr?: number }
  const address = _ptr ?? _nodePtr ?? 0
  if (address === 0) throw new Error('the document is closed')
  return address
}
