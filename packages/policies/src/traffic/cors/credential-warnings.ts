import { compilePattern, type PolicyWarning } from '@sluice/core'

/** Origins that no operator owns. */
const STRANGERS = ['https://evil.test', 'https://attacker.example']

/** Returns warnings about an origin whose pages may send credentials. */
export function credentialWarnings(origin: string): PolicyWarning[] {
  const rule = 'open-cors'
  if (/^http:\/\/(?!localhost(?::|$)|127\.|\[::1\])/.test(origin)) {
    const message = `cors accepts credentials from '${origin}', whose pages can be modified in transit`
    return [{ rule, message, remedy: 'write https://' }]
  }
  const isWide = /^https:\/\/\*\.[^.]+$/.test(origin) || matchesStrangers(origin)
  if (!isWide) return []
  const message = `cors accepts credentials from '${origin}', which also matches sites that you do not own`
  return [{ rule, message, remedy: 'list your own origins' }]
}

function matchesStrangers(origin: string): boolean {
  if (!origin.startsWith('~')) return false
  try {
    const pattern = compilePattern(`^(?:${origin.slice(1)})$`)
    return STRANGERS.every((one) => pattern.test(one))
  } catch {
    return false
  }
}
