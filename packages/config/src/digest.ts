import { createHash } from 'node:crypto'
import type { Plan } from './plan.js'

/** SHA-256 of the plan's canonical JSON, in hexadecimal: equal for plans that differ in the order of keys only. */
export function digestOf(plan: Plan): string {
  return createHash('sha256').update(canonicalJson(plan)).digest('hex')
}

/** JSON with sorted keys and no spaces. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, item]) => item !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
}
