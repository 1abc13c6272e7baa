/**
 * Whether a value is what was written: of whole numbers beyond 2^53 two become one when they are read. Lists and objects are
 * when all in them is; their depth is bounded.
 */
export function isExact(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact)
}
