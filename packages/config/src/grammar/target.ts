import { type Flaw, isFlaw } from '../flaw.js'
import type { ServicePlan } from '../plan-kubernetes.js'
import { isServiceAddress, parseServiceAddress, serviceOrigin } from './kubernetes-service.js'
import { parseTargetUrl } from './url.js'

/** What the text of a target says. */
export interface TargetAddress {
  /** `http://host:port`; a default port is left out. */
  readonly origin: string
  /** The Service whose pods are meant; absent: the host of the origin. */
  readonly service?: ServicePlan
}

/** Reads the address of a target: a URL, or that of a Kubernetes Service. */
export function parseTarget(text: string): TargetAddress | Flaw {
  if (isServiceAddress(text)) {
    const service = parseServiceAddress(text)
    return isFlaw(service) ? service : { origin: serviceOrigin(service), service }
  }
  const origin = parseTargetUrl(text)
  return isFlaw(origin) ? origin : { origin }
}
