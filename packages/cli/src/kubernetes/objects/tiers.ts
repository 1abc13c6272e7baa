import type { Tier } from '@sluice/gateway'

/** Resource requests and limits of a container, in Kubernetes syntax. */
export interface Resources {
  readonly requests?: Readonly<Record<string, string>>
  readonly limits?: Readonly<Record<string, string>>
}

/** CPUs and memory (MiB) of a pod by tier. The gateway reads both from its cgroup to set workers and heap sizes. */
export const TIERS: Readonly<Record<Tier, { readonly cpus: number; readonly memoryMib: number }>> = {
  W1: { cpus: 1, memoryMib: 2048 },
  W2: { cpus: 2, memoryMib: 2048 },
  W4: { cpus: 4, memoryMib: 4096 },
  W8: { cpus: 8, memoryMib: 8192 },
}

/** Returns the resources of a tier. Requests equal limits, so that pods get the QoS class Guaranteed. */
export function tierResources(tier: Tier, ephemeralStorage?: string): Resources {
  const { cpus, memoryMib } = TIERS[tier]
  const storage = ephemeralStorage === undefined ? {} : { 'ephemeral-storage': ephemeralStorage }
  const amounts = { cpu: String(cpus), memory: `${memoryMib / 1024}Gi`, ...storage }
  return { requests: amounts, limits: amounts }
}
