import type { Flaw } from '../flaw.js'
import type { ServicePlan } from '../plan-kubernetes.js'

/** RFC 1035 labels; the name of a port is like them, and may begin with a digit. */
const LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?'
const ADDRESS = new RegExp(`^k8s://(${LABEL})\\.(${LABEL}):(${LABEL})$`)
const MAX_PORT = 65_535

/** Whether a text is meant to be the address of a Kubernetes Service. */
export function isServiceAddress(text: string): boolean {
  return text.startsWith('k8s:')
}

/** Reads the address of a Kubernetes Service, `k8s://orders.default:8080` or `k8s://orders.default:http`. */
export function parseServiceAddress(text: string): ServicePlan | Flaw {
  const [, name, namespace, port] = ADDRESS.exec(text) ?? []
  const isPort = port !== undefined && (/[a-z]/.test(port) || isNumber(port))
  if (name !== undefined && namespace !== undefined && isPort) return { name, namespace, port }
  return {
    message: `'${text}' is not the address of a Kubernetes Service`,
    remedy: 'write k8s://NAME.NAMESPACE:PORT, with the port of its pods or the name of the port',
  }
}

function isNumber(port: string): boolean {
  return /^[1-9][0-9]{0,4}$/.test(port) && Number(port) <= MAX_PORT
}

/** How the targets of a Service are called: where its port has a number, as if it were its URL in the cluster. */
export function serviceOrigin({ name, namespace, port }: ServicePlan): string {
  const origin = `http://${name}.${namespace}`
  return isNumber(port) ? new URL(`${origin}:${port}`).origin : origin
}
