/** Stands where a value was, whatever its length. */
export const MASK = '***'

/** How much of a value a mask leaves. */
export interface MaskShape {
  readonly keepFirst: number
  readonly keepLast: number
  /** The least number of characters that are hidden; below it nothing is left. */
  readonly leastHidden: number
}

/** A value of which only the beginning and the end are left; null when nothing of it may stay. */
export function partlyMasked(value: string, { keepFirst, keepLast, leastHidden }: MaskShape): string | null {
  if (keepFirst + keepLast === 0) return null
  // Characters, not UTF-16 units: half of a pair is no text.
  const characters = [...value]
  const end = characters.length - keepLast
  if (end - keepFirst < leastHidden) return null
  return characters.slice(0, keepFirst).join('') + MASK + characters.slice(end).join('')
}
