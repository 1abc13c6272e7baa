import { type KubernetesObject, metadataOf, selectorLabels } from './object.js'
import type { Autoscaling, DisruptionBudget, ObjectSettings, Verbatim } from './settings.js'

/** Scaling behaviour: pods are removed after five minutes of low load. */
export const BEHAVIOR: Verbatim = { scaleDown: { stabilizationWindowSeconds: 300 } }

/** Returns the autoscaler. It adds pods immediately and removes them after five minutes of low load. */
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

/** Returns the disruption budget, which limits evictions during a node drain. Pods that are not ready can be evicted. */
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
