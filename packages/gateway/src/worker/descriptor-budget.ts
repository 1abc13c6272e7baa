import { readFileSync } from 'node:fs'
import type { Plan } from '@sluice/config'
import { SPILL_FILES } from '../lib/spill-file.js'

/** Descriptors reserved for logs, the supervisor channel, the runtime and threads. */
const OWN = 128

/** Division of a worker's descriptors. */
export interface DescriptorBudget {
  /** Client connections over all listeners. */
  readonly clients: number
  /** Files of bodies buffered on disk. */
  readonly bodies: number
}

/**
 * Returns the maximum number of open descriptors of this process, or Infinity if unknown. Node.js has already
 * raised the soft limit to the hard limit.
 */
export function descriptorLimit(): number {
  try {
    const text = readFileSync('/proc/self/limits', 'latin1')
    const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1]
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Divides a limit. Clients get what upstreams, bodies on disk and the process itself do not need. */
export function divideDescriptors(limit: number, plan: Plan): DescriptorBudget {
  if (limit === Number.POSITIVE_INFINITY) return { clients: limit, bodies: limit }
  const own = Math.min(OWN, Math.floor(limit / 4))
  const bodies = Math.floor(limit / 8)
  const upstreams = Math.min(upstreamConnections(plan), Math.floor(limit / 4))
  return { clients: limit - own - bodies - upstreams, bodies }
}

function upstreamConnections({ upstreams }: Plan): number {
  return upstreams.reduce((sum, { connections, targets }) => sum + connections * targets.length, 0)
}

/** Returns the number of connections, of a listener or of one client address, that fits the budget. */
export function affordableConnections(connections: number, plan: Plan, budget: DescriptorBudget): number {
  const wanted = plan.listeners.reduce((sum, { limits }) => sum + limits.connections, 0)
  return wanted <= budget.clients
    ? connections
    : Math.max(1, Math.floor((connections * budget.clients) / wanted))
}

/** Bounds the spill files, and reports listeners whose connection limit is reduced to the available descriptors. */
export function reportDescriptors(
  plan: Plan,
  descriptors: number,
  report: (event: string, fields: object) => void,
): void {
  const budget = divideDescriptors(descriptors, plan)
  SPILL_FILES.most = budget.bodies
  for (const { address, limits } of plan.listeners) {
    const connections = affordableConnections(limits.connections, plan, budget)
    if (connections === limits.connections) continue
    report('connections_lowered', {
      ...{ listener: address, wanted: limits.connections, connections, descriptors },
      remedy: 'raise the limit of open files (ulimit -n, LimitNOFILE) or lower limits.connections',
    })
  }
}
