import type { DocumentPath } from '../../diagnostic/document-path.js'
import type { RouteDocument } from '../../schema/document.js'
import { type ChainStep, chainOf } from '../../semantics/consumer-check.js'
import type { Inspection } from '../../semantics/inspection.js'

/** A route with its enabled policies. */
export interface RouteChain {
  readonly route: RouteDocument
  readonly path: DocumentPath
  readonly chain: readonly ChainStep[]
}

/** Returns all routes with their policies. */
export function routeChains(inspection: Inspection): readonly RouteChain[] {
  const { document, origins } = inspection
  return origins.entries(document.routes, ['routes']).map(([route, path]) => ({
    route,
    path,
    chain: chainOf(inspection, route.policies, [...path, 'policies']),
  }))
}

/** Returns the kind of decision that a policy makes about requests, or null. */
export function decisionOf({ policy }: ChainStep, { catalog }: Inspection): string | null {
  const kind = catalog.get(policy.use)
  const config = policy.with as never
  const needs = kind?.authenticates?.(config) ?? kind?.needsConsumer?.(config) ?? null
  return needs === null ? (kind?.decides?.(config) ?? null) : 'access'
}
