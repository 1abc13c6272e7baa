import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/**
 * Loads undici on first use. Most gateways have no target that needs it, and it would take a tenth of the startup time.
 */
export function loadUndici(): typeof import('undici') {
  return require('undici') as typeof import('undici')
}
