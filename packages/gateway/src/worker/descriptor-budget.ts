import { readFileSync } from 'node:fs'
import type { Plan } from '@sluice/config'

/** Logs, the channel to the supervisor, the runtime, threads. */
const OWN = 128

/** How a worker divides the descriptors that it may have open. */
export interface DescriptorBudget {
  /** Connections of clients, over all listeners. */
  readonly clients: number
  /** Files of bodies that wait on disk. */
  readonly bodies: number
}

/**
 * The most descriptors that this process may have open; infinite where the system does not say. Node.js has raised the
 * soft limit to the hard one by now.
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

/** Divides a limit: clients get what upstreams, waiting bodies and the process itself do not need. */
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

/** The part of a listener's connections, or of those of one address, that the budget has room for. */
export function affordableConnections(connections: number, plan: Plan, budget: DescriptorBudget): number {
  const wanted = plan.listeners.reduce((sum, { limits }) => sum + limits.connections, 0)
  return wanted <= budget.clients
    ? connections
    : Math.max(1, Math.floor((connections * budget.clients) / wanted))
}
