import type { TracedRecord } from './traced-record.js'

/** Attributes of a resource by name. */
export type Attributes = Readonly<Record<string, string>>

/** Variables that a pod specification sets, and the attributes that they are. */
const KUBERNETES = {
  POD_NAME: 'k8s.pod.name',
  POD_NAMESPACE: 'k8s.namespace.name',
  NODE_NAME: 'k8s.node.name',
}

/** Returns the attributes from the environment, as OpenTelemetry defines them: the service and its pod. */
export function environmentAttributes(env: NodeJS.ProcessEnv): Attributes {
  const attributes: Record<string, string> = { 'service.name': 'sluice' }
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined) {
    const { HOSTNAME } = env
    if (HOSTNAME !== undefined) attributes['k8s.pod.name'] = HOSTNAME
    for (const [name, attribute] of Object.entries(KUBERNETES)) {
      const value = env[name]
      if (value !== undefined && value !== '') attributes[attribute] = value
    }
  }
  Object.assign(attributes, listed(env['OTEL_RESOURCE_ATTRIBUTES'] ?? ''))
  const service = env['OTEL_SERVICE_NAME']
  if (service !== undefined && service !== '') attributes['service.name'] = service
  return attributes
}

/** Parses `name=value,name=value` with percent-encoded values. An invalid list is ignored as a whole. */
function listed(text: string): Attributes {
  const attributes: Record<string, string> = {}
  try {
    for (const pair of text.split(',')) {
      if (pair.trim() === '') continue
      const at = pair.indexOf('=')
      if (at <= 0) return {}
      attributes[pair.slice(0, at).trim()] = decodeURIComponent(pair.slice(at + 1).trim())
    }
  } catch {
    return {}
  }
  return attributes
}

/** Returns the resource of a record: the worker that wrote it. Records of another process keep its name. */
export function resourceOf({ gw, env }: TracedRecord, environment: Attributes): Attributes {
  const attributes: Record<string, string> = {}
  if (gw?.version !== undefined) attributes['service.version'] = String(gw.version)
  if (gw?.pod !== undefined) {
    attributes['host.name'] = String(gw.pod)
    // Metrics are those of all workers.
    const worker = gw.worker === undefined ? '' : `-${String(gw.worker)}`
    attributes['service.instance.id'] = String(gw.pod) + worker
  }
  if (typeof env === 'string') attributes['deployment.environment.name'] = env
  return { ...attributes, ...environment }
}
