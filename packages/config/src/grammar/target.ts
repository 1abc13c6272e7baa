import { type Issue, isIssue } from '../diagnostic/issue.js'
import type { ServicePlan } from '../plan/plan-kubernetes.js'
import { isServiceAddress, parseServiceAddress, serviceOrigin } from './kubernetes-service.js'
import { parseTargetUrl } from './url.js'

/** A parsed target address. */
export interface TargetAddress {
  /** `http://host:port`, without a default port. */
  readonly origin: string
  /** The Kubernetes Service whose pods are the targets. Absent: the target is the host of the origin. */
  readonly service?: ServicePlan
}

/** Parses a target: a URL, or the address of a Kubernetes Service. */
export function parseTarget(text: string): TargetAddress | Issue {
  if (isServiceAddress(text)) {
    const service = parseServiceAddress(text)
    return isIssue(service) ? service : { origin: serviceOrigin(service), service }
  }
  const origin = parseTargetUrl(text)
  return isIssue(origin) ? origin : { origin }
}
