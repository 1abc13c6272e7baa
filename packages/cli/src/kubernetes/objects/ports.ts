import type { DocumentFacts } from './document-facts.js'
import { ObjectsError } from './raw-document.js'

/** A container port. */
export interface PodPort {
  readonly name: string
  readonly port: number
}

/** A container port for clients, with its Service port. */
export interface ClientPort extends PodPort {
  /** Service port: 80 or 443 for the first HTTP or HTTPS listener if no other listener uses it, else the pod port. */
  readonly servicePort: number
}

/** Port and paths for probes. */
export interface ProbedPort {
  readonly name: string
  readonly scheme: 'HTTP' | 'HTTPS'
  readonly alivePath: string
  readonly readyPath: string
}

/** Returns the ports of the listeners. @throws ObjectsError if no listener is reachable from outside the pod */
export function clientPorts({ listeners }: DocumentFacts): readonly ClientPort[] {
  if (listeners.length === 0)
    throw new ObjectsError(
      "no listener is reachable from outside its pod; use for example listeners: [{ address: ':8080' }]",
    )
  const own = new Set(listeners.map(({ port }) => port))
  const named = new Set<string>()
  return listeners.map(({ port, isTls }) => {
    const kind = isTls ? 'https' : 'http'
    const usual = isTls ? 443 : 80
    if (named.has(kind)) return { name: `${kind}-${port}`, port, servicePort: port }
    named.add(kind)
    return { name: kind, port, servicePort: own.has(usual) ? port : usual }
  })
}

/** Returns the ports of metrics and admin API that are reachable from outside the pod. */
export function supervisorPorts({ admin, metricsPort }: DocumentFacts): readonly PodPort[] {
  return [
    ...(metricsPort === null ? [] : [{ name: 'metrics', port: metricsPort }]),
    ...(admin === null ? [] : [{ name: 'admin', port: admin.port }]),
  ]
}

/** Returns all ports of the gateway container, in the syntax of a container. */
export function containerPorts(facts: DocumentFacts): object[] {
  return [...clientPorts(facts), ...supervisorPorts(facts)].map(({ name, port }) => ({
    name,
    containerPort: port,
    protocol: 'TCP',
  }))
}

/**
 * Returns the port for probes: the metrics address, else a listener with `health: true`, else the admin API.
 * @throws ObjectsError if there is none
 */
export function probedPort(facts: DocumentFacts): ProbedPort {
  const { admin, metricsPort, listeners } = facts
  const ofSupervisor = { alivePath: '/healthz', readyPath: '/readyz' }
  if (metricsPort !== null) return { name: 'metrics', scheme: 'HTTP', ...ofSupervisor }
  const at = listeners.findIndex(({ answersProbes }) => answersProbes)
  if (at !== -1) {
    const { name } = clientPorts(facts)[at]!
    const scheme = listeners[at]!.isTls ? 'HTTPS' : 'HTTP'
    return { name, scheme, alivePath: '/-/healthz', readyPath: '/-/readyz' }
  }
  if (admin !== null) return { name: 'admin', scheme: admin.isTls ? 'HTTPS' : 'HTTP', ...ofSupervisor }
  throw new ObjectsError("no address for the kubelet's probes; add metrics: { address: ':9902' }")
}
