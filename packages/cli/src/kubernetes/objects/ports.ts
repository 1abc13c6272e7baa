import type { DocumentFacts } from './document-facts.js'
import { ObjectsError } from './raw-document.js'

/** A port of the pods. */
export interface PodPort {
  readonly name: string
  readonly port: number
}

/** A port for clients. */
export interface ClientPort extends PodPort {
  /** Its port at the Service: 80 or 443 for the first of its kind, where no listener has that port itself. */
  readonly servicePort: number
}

/** An address that answers probes. */
export interface ProbedPort {
  readonly name: string
  readonly scheme: 'HTTP' | 'HTTPS'
  readonly alivePath: string
  readonly readyPath: string
}

/** The ports of the listeners. @throws ObjectsError when clients can reach none. */
export function clientPorts({ listeners }: DocumentFacts): readonly ClientPort[] {
  if (listeners.length === 0) {
    throw new ObjectsError(
      "no listener can be reached from outside its pod; write for example listeners: [{ address: ':8080' }]",
    )
  }
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

/** Metrics and admin API, where others than the pod itself can reach them. */
export function supervisorPorts({ admin, metricsPort }: DocumentFacts): readonly PodPort[] {
  return [
    ...(metricsPort === null ? [] : [{ name: 'metrics', port: metricsPort }]),
    ...(admin === null ? [] : [{ name: 'admin', port: admin.port }]),
  ]
}

/**
 * What the kubelet asks: the address for metrics, else a listener with `health: true`, else the admin API.
 * @throws ObjectsError when there is none of them.
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
  throw new ObjectsError("nothing answers the kubelet's probes; write metrics: { address: ':9902' }")
}
