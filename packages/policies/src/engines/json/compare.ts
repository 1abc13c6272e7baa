import type { PathRun } from './path-run.js'

/** Whether two JSON values are the same (RFC 9535 section 2.3.5.2.2); undefined is equal to itself only. */
export function isEqual(a: unknown, b: unknown, run: PathRun): boolean {
  run.visit()
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && isEqualArray(a, b, run)
  return !Array.isArray(b) && isEqualObject(a, b, run)
}

/** Whether one JSON value stands before another; only numbers and texts have an order. */
export function isLess(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b
  return typeof a === 'string' && typeof b === 'string' && a < b
}

function isEqualArray(a: readonly unknown[], b: readonly unknown[], run: PathRun): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    if (!isEqual(a[i], b[i], run)) return false
  }
  return true
}

function isEqualObject(a: object, b: object, run: PathRun): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  for (const name of names) {
    if (!Object.hasOwn(b, name)) return false
    if (!isEqual(a[name as keyof typeof a], b[name as keyof typeof b], run)) return false
  }
  return true
}
