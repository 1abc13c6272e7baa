/** Replacement for a masked value of any length. */
export const MASK = '***'

/** Number of characters that a mask leaves visible. */
export interface MaskShape {
  readonly keepFirst: number
  readonly keepLast: number
  /** Minimum number of hidden characters. Shorter values are masked completely. */
  readonly minHidden: number
}

/** Masks the middle of a value. Returns null if the value must be masked completely. */
export function partlyMasked(value: string, { keepFirst, keepLast, minHidden }: MaskShape): string | null {
  if (keepFirst + keepLast === 0) return null
  // Counts characters, not UTF-16 units, so that surrogate pairs are not split.
  const characters = [...value]
  const end = characters.length - keepLast
  if (end - keepFirst < minHidden) return null
  return characters.slice(0, keepFirst).join('') + MASK + characters.slice(end).join('')
}
