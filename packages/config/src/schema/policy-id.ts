import type { PolicyEntry } from './document.js'

/**
 * Returns the id of a policy in a chain: the id of the shared policy, its own id, or `owner/position` with
 * positions from 1.
 */
export function policyIdOf(entry: PolicyEntry, owner: string, position: number): string {
  if (typeof entry === 'string') return entry
  return entry.id ?? `${owner}/${position + 1}`
}
