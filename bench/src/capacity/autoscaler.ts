import { HEADROOM } from './headroom.js'

/** How pods are added and taken away, in the words of the HorizontalPodAutoscaler of Kubernetes. */
export interface Autoscaler {
  /** Average CPU time over what the pods request, in percent, from which on pods are added. */
  readonly averageUtilization: number
  readonly minReplicas: number
  readonly maxReplicas: number
}

/** One may fail at any hour; half as many again than the peak takes are for a peak that nobody expected. */
const LEAST = 2
const SURPRISE = 1.5

/** For a load that takes so many pods at its peak. */
export function autoscalerFor(replicas: number): Autoscaler {
  const minReplicas = Math.max(LEAST, Math.ceil(replicas / 2))
  return {
    averageUtilization: Math.round((1 - HEADROOM) * 100),
    minReplicas,
    maxReplicas: Math.max(minReplicas + 1, Math.ceil(replicas * SURPRISE)),
  }
}
