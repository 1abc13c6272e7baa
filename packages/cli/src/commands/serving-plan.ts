import type { Plan } from '@sluice/config'
import type { AdminClient } from '../admin/admin-client.js'

/** The running plan as far as it is shown, and its entity tag. */
export interface ServingPlan {
  readonly plan: Plan
  /** The digest in double quotes, or null if the gateway sends none. */
  readonly tag: string | null
}

/**
 * Gets the running plan of a gateway.
 * @throws Failure
 */
export async function servingPlan(client: AdminClient): Promise<ServingPlan> {
  const { part, headers } = await client.get('/v1/plan')
  // Checks that it is a plan of a version that can be compared.
  for (const list of ['listeners', 'upstreams', 'routes']) part.parts(list)
  for (const object of ['admin', 'log', 'metrics', 'drain']) part.part(object)
  return { plan: part.value as unknown as Plan, tag: headers.etag ?? null }
}
