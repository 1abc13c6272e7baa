import type { PolicyDocument } from './schema/document.js'

/** What a step of a route is called: a shared policy's id, the id it was given, or the route and its place from 1. */
export function policyIdOf(entry: string | PolicyDocument, routeId: string, position: number): string {
  if (typeof entry === 'string') return entry
  return entry.id ?? `${routeId}/${position + 1}`
}
