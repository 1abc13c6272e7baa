import type { Tier } from '@sluice/gateway'

/** What a container may use, as Kubernetes writes it. */
export interface Resources {
  readonly requests?: Readonly<Record<string, string>>
  readonly limits?: Readonly<Record<string, string>>
}

/** CPUs and memory (MiB) of a pod of each tier. The gateway finds both in its cgroup: workers and their heaps follow. */
export const TIERS: Readonly<Record<Tier, { readonly cpus: number; readonly memoryMib: number }>> = {
  W1: { cpus: 1, memoryMib: 2048 },
  W2: { cpus: 2, memoryMib: 2048 },
  W4: { cpus: 4, memoryMib: 4096 },
  W8: { cpus: 8, memoryMib: 8192 },
}

/** As much as it may use is reserved for it, so that a pod is never the first to be evicted or throttled. */
export function tierResources(tier: Tier, ephemeralStorage?: string): Resources {
  const { cpus, memoryMib } = TIERS[tier]
  const storage = ephemeralStorage === undefined ? {} : { 'ephemeral-storage': ephemeralStorage }
  const amounts = { cpu: String(cpus), memory: `${memoryMib / 1024}Gi`, ...storage }
  return { requests: amounts, limits: amounts }
}
