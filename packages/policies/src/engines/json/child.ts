/**
 * Returns a member or an element of a parsed value, or undefined if it is missing. Inherited properties are not
 * members.
 */
export function childOf(value: unknown, step: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (typeof step === 'number') return Array.isArray(value) ? value.at(step) : undefined
  if (Array.isArray(value) || !Object.hasOwn(value, step)) return undefined
  return (value as Readonly<Record<string, unknown>>)[step]
}

/** Returns all members or elements of a parsed value. */
export function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}
