import { weightOf } from '@sluice/core'

/** Supported content coding. */
export type Coding = 'br' | 'gzip'

/** Content coding chosen for a response. */
export interface CodingChoice {
  /** The coding, or null to send the body uncompressed. */
  readonly coding: Coding | null
  /**
   * True if the client refuses uncompressed bodies (`identity;q=0`). Short bodies are then compressed too.
   */
  readonly isForced: boolean
}

/** Choice of an uncompressed body. */
export const PLAIN: CodingChoice = { coding: null, isForced: false }

/**
 * Maximum length of Accept-Encoding, in bytes. Browsers send about 30. Longer fields are ignored, and the
 * response is not compressed.
 */
export const MAX_ACCEPT_BYTES = 512

/**
 * Chooses the coding that Accept-Encoding prefers (RFC 9110 section 12.5.3). If several have the same weight,
 * the first offered one wins. Returns `PLAIN` if the client prefers uncompressed bodies.
 * @param field value of Accept-Encoding, or null if absent. An absent field means no compression.
 */
export function chooseCoding(field: string | null, offered: readonly Coding[]): CodingChoice {
  if (field === null || field.length > MAX_ACCEPT_BYTES) return PLAIN
  const weights = weightsIn(field)
  const star = weights.get('*')
  // Unless it is listed, `identity` is acceptable with the lowest preference.
  const identity = weights.get('identity') ?? (star === 0 ? 0 : Number.MIN_VALUE)
  let best: Coding | null = null
  let bestWeight = identity
  for (const coding of offered) {
    const weight = weights.get(coding) ?? star ?? 0
    if (weight > bestWeight) {
      best = coding
      bestWeight = weight
    }
  }
  return { coding: best, isForced: best !== null && identity === 0 }
}

function weightsIn(field: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const element of field.toLowerCase().split(',')) {
    const semicolon = element.indexOf(';')
    const name = (semicolon === -1 ? element : element.slice(0, semicolon)).trim()
    weights.set(name === 'x-gzip' ? 'gzip' : name, weightOf(element))
  }
  return weights
}
