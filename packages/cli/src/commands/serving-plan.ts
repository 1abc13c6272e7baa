import type { Plan } from '@sluice/config'
import type { AdminClient } from '../admin/admin-client.js'

/** What serves: the plan as far as it is shown, and its entity tag. */
export interface ServingPlan {
  readonly plan: Plan
  /** The digest in double quotes; null when the gateway sends none. */
  readonly tag: string | null
}

/** Asks a gateway for the plan that serves. @throws Failure. */
export async function servingPlan(client: AdminClient): Promise<ServingPlan> {
  const { part, headers } = await client.get('/v1/plan')
  // Read far enough to know that it is a plan of a version that we can compare.
  for (const list of ['listeners', 'upstreams', 'routes']) part.parts(list)
  for (const object of ['admin', 'log', 'metrics', 'drain']) part.part(object)
  return { plan: part.value as unknown as Plan, tag: headers.etag ?? null }
}
