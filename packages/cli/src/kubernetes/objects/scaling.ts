import { type KubernetesObject, metadataOf, selectorLabels } from './object.js'
import type { Autoscaling, ObjectSettings } from './settings.js'

/** Adds pods under load at once, and removes them after five quiet minutes. */
export function autoscaler(settings: ObjectSettings, autoscaling: Autoscaling): KubernetesObject {
  const { maxReplicas, cpuPercent = 70, requestsInFlight } = autoscaling
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
      behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
    },
  }
}

/** How many pods a drain of nodes may take away at a time. Pods that are not ready protect nobody. */
export function disruptionBudget(
  settings: ObjectSettings,
  { maxUnavailable }: { readonly maxUnavailable: number },
): KubernetesObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadataOf(settings),
    spec: {
      maxUnavailable,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: selectorLabels(settings) },
    },
  }
}
