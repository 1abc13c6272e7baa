/** The library that reads XML, once it is there. */
export type Libxml = typeof import('libxml2-wasm')

let loading: Promise<Libxml> | null = null
let loaded: Libxml | null = null

/**
 * Loads the library, which takes about 90 ms and 30 MB: gateways without XML do not pay for it. Whoever compiles
 * something that reads XML waits for this first; from then on `libxml()` has it.
 */
export function loadLibxml(): Promise<Libxml> {
  loading ??= import('libxml2-wasm').then((library) => {
    loaded = library
    return library
  })
  return loading
}

/** The library, for code that cannot wait. @throws Error when nobody has loaded it */
export function libxml(): Libxml {
  if (loaded === null) throw new Error('libxml2 is not loaded; await loadLibxml() while compiling')
  return loaded
}
