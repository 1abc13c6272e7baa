import type { Issue } from '../diagnostic/issue.js'
import type { ServicePlan } from '../plan/plan-kubernetes.js'

/** RFC 1035 label. Names may also start with a digit, as port names do. */
const LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?'
const ADDRESS = new RegExp(`^k8s://(${LABEL})\\.(${LABEL}):(${LABEL})$`)
const MAX_PORT = 65_535

/** True if a string is meant as the address of a Kubernetes Service. */
export function isServiceAddress(text: string): boolean {
  return text.startsWith('k8s:')
}

/** Parses the address of a Kubernetes Service: `k8s://orders.default:8080` or `k8s://orders.default:http`. */
export function parseServiceAddress(text: string): ServicePlan | Issue {
  const [, name, namespace, port] = ADDRESS.exec(text) ?? []
  const isPort = port !== undefined && (/[a-z]/.test(port) || isNumber(port))
  if (name !== undefined && namespace !== undefined && isPort) return { name, namespace, port }
  return {
    message: `'${text}' is not the address of a Kubernetes Service`,
    remedy: 'write k8s://NAME.NAMESPACE:PORT with the pod port or a port name',
  }
}

function isNumber(port: string): boolean {
  return /^[1-9][0-9]{0,4}$/.test(port) && Number(port) <= MAX_PORT
}

/** Returns the origin for targets of a Service: its cluster URL, with the port if it is a number. */
export function serviceOrigin({ name, namespace, port }: ServicePlan): string {
  const origin = `http://${name}.${namespace}`
  return isNumber(port) ? new URL(`${origin}:${port}`).origin : origin
}
