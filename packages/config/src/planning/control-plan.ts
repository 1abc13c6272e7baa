import type { ControlPlan } from '../plan/plan.js'
import type { Document } from '../schema/document.js'

/** Returns the plan of the connection to a controller. */
export function controlPlan(control: NonNullable<Document['control']>): ControlPlan {
  const { url, urls = [], group, name = null, token = null } = control
  const { caFile = null, certFile = null, keyFile = null, fingerprints } = control.tls
  const tls = { caFile, certFile, keyFile, fingerprints: fingerprints.map(plainFingerprint) }
  return { urls: url === undefined ? urls : [url], group, name, token, tls }
}

function plainFingerprint(text: string): string {
  return text.replaceAll(':', '').toLowerCase()
}
