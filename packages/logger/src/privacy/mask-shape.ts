import type { MaskShape } from './privacy-options.js'

/** Stands where a value was, whatever its length. */
export const WHOLE_MASK = '***'

/**
 * A value with its mask, or null when nothing of it may stay. The masked part is always `***`, because its length
 * would tell something; only `maskFirst` shows as many asterisks as it hides characters, because its number is known.
 */
export function partlyMasked(text: string, { kind, count }: MaskShape): string | null {
  if (kind === 'whole') return null
  // Characters, not UTF-16 units: half of a pair is no text.
  const characters = [...text]
  if (count >= characters.length) return null
  if (kind === 'keepFirst') return characters.slice(0, count).join('') + WHOLE_MASK
  if (kind === 'keepLast') return WHOLE_MASK + characters.slice(characters.length - count).join('')
  return '*'.repeat(count) + characters.slice(count).join('')
}
