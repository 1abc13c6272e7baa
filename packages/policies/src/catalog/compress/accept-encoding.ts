import { weightOf } from '@sluice/core'

export type Coding = 'br' | 'gzip'

/** What a client wants of content codings. */
export interface CodingChoice {
  /** Null: the body as it is. */
  readonly coding: Coding | null
  /** It does not take the body as it is (`identity;q=0`), so that short ones are compressed too. */
  readonly isForced: boolean
}

export const PLAIN: CodingChoice = { coding: null, isForced: false }

/** Browsers send some 30 bytes. Who sends more than this gets no compression, and no time is spent on it. */
export const MAX_ACCEPT_BYTES = 512

/**
 * The coding that Accept-Encoding likes best (RFC 9110 section 12.5.3); of several with the same weight the one that is
 * offered first. A client that likes the body as it is better gets that.
 * @param field null: absent, which says nothing, and gets the body as it is.
 */
export function chooseCoding(field: string | null, offered: readonly Coding[]): CodingChoice {
  if (field === null || field.length > MAX_ACCEPT_BYTES) return PLAIN
  const weights = weightsIn(field)
  const star = weights.get('*')
  // Where it is not named it is acceptable, and the least wanted.
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
