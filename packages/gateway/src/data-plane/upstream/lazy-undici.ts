import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** undici, loaded by who first needs it: most gateways have no target for it, and it would take a tenth of a start. */
export function loadUndici(): typeof import('undici') {
  return require('undici') as typeof import('undici')
}
