import { diffPlans, displayPlan, type Plan, type PlanChange } from '@sluice/config'
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
  const change = changes.find(({ kind, object }) => kind !== 'none' && object.kind === 'ConfigMap')
  if (change === undefined) return []
  const after = await shownPlan(change.object)
  const before = change.live === null ? null : await shownPlan(change.live)
  if (after === null || (before === null && change.live !== null)) return []
  return diffPlans(before, after, catalog)
}

async function shownPlan(object: KubernetesObject): Promise<Plan | null> {
  const plan = await planForElsewhere({ name: DOCUMENT_KEY, text: documentIn(object) })
  return plan === null ? null : displayPlan(plan, catalog)
}

function documentIn({ data }: KubernetesObject): string {
  return (data as Readonly<Record<string, string>> | undefined)?.[DOCUMENT_KEY] ?? ''
}
