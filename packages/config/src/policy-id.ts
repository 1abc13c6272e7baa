import type { PolicyEntry } from './schema/document.js'

/** What a step is called: a shared policy's id, the id it was given, or the route or group and its place there from 1. */
export function policyIdOf(entry: PolicyEntry, owner: string, position: number): string {
  if (typeof entry === 'string') return entry
  return entry.id ?? `${owner}/${position + 1}`
}
