/**
 * Returns true if no number lost precision when it was parsed: distinct integers beyond 2^53 can become equal. Checks
 * arrays and objects recursively; their depth is limited.
 */
export function isExact(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact)
}
