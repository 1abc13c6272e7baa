import { type KubernetesObject, metadataOf, selectorLabels } from './object.js'
import type { Autoscaling, DisruptionBudget, ObjectSettings, Verbatim } from './settings.js'

/** Five quiet minutes before pods go. */
export const BEHAVIOR: Verbatim = { scaleDown: { stabilizationWindowSeconds: 300 } }

/** Adds pods under load at once, and removes them after five quiet minutes. */
export function autoscaler(settings: ObjectSettings, autoscaling: Autoscaling): KubernetesObject {
  const { maxReplicas, cpuPercent = 70, requestsInFlight, behavior = BEHAVIOR } = autoscaling
  const cpu = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpuPercent } },
  }
  const inFlight = {
    type: 'Pods',
    pods: {
      metric: { name: 'gw_requests_in_flight' },
      target: { type: 'AverageValue', averageValue: String(requestsInFlight) },
    },
  }
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: metadataOf(settings),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: settings.name },
      minReplicas: settings.replicas,
      maxReplicas,
      metrics: requestsInFlight === undefined ? [cpu] : [cpu, inFlight],
      behavior,
    },
  }
}

/** How many pods a drain of nodes may take away at a time. Pods that are not ready protect nobody. */
export function disruptionBudget(settings: ObjectSettings, budget: DisruptionBudget): KubernetesObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadataOf(settings),
    spec: {
      ...budget,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: selectorLabels(settings) },
    },
  }
}
