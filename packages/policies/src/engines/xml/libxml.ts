/** The library that reads XML, once it is there. `raw` are functions of libxml2 that its classes do not lend. */
export type Libxml = typeof import('libxml2-wasm') & {
  readonly raw: typeof import('libxml2-wasm/lib/libxml2.mjs')
}

let loading: Promise<Libxml> | null = null
let loaded: Libxml | null = null

/**
 * Loads the library, which takes about 90 ms and 30 MB: gateways without XML do not pay for it. Whoever compiles
 * something that reads XML waits for this first; from then on `libxml()` has it.
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

/** The library, for code that cannot wait. @throws Error when nobody has loaded it */
export function libxml(): Libxml {
  if (loaded === null) throw new Error('libxml2 is not loaded; await loadLibxml() while compiling')
  return loaded
}

/** `libxml()` has it. */
export function isLibxmlLoaded(): boolean {
  return loaded !== null
}

/** Where libxml2 keeps a document or a node; its classes have the address and do not say so. */
export function addressOf(owner: object): number {
  const { _ptr, _nodePtr } = owner as { readonly _ptr?: number; readonly _nodePtr?: number }
  const address = _ptr ?? _nodePtr ?? 0
  if (address === 0) throw new Error('the document is closed')
  return address
}
