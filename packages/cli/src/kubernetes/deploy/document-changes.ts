import { diffPlans, displayPlan, type PlanChange } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { planForElsewhere } from '../../input/document.js'
import type { KubernetesObject } from '../objects/object.js'
import { DOCUMENT_KEY } from '../objects/workload.js'
import type { ObjectChange } from './object-changes.js'

/**
 * Returns the differences between the document in the ConfigMap and the new one, as in `gw diff`. The list is empty if
 * a comparison needs values that only the cluster has.
 */
export async function documentChanges(changes: readonly ObjectChange[]): Promise<readonly PlanChange[]> {
  const change = changes.find(({ kind, object }) => kind === 'change' && object.kind === 'ConfigMap')
  if (change?.live === null || change === undefined) return []
  const plans = await Promise.all(
    [change.live, change.object].map((object) =>
      planForElsewhere({ name: DOCUMENT_KEY, text: documentIn(object) }),
    ),
  )
  const [before, after] = plans.map((plan) => (plan === null ? null : displayPlan(plan, catalog)))
  return before && after ? diffPlans(before, after, catalog) : []
}

function documentIn({ data }: KubernetesObject): string {
  return (data as Readonly<Record<string, string>> | undefined)?.[DOCUMENT_KEY] ?? ''
}
