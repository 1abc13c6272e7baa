import type { DocumentPath } from '../diagnostic/document-path.js'
import type { ListenerDocument, PolicyDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'

/** Checks policies that use client certificates: at least one listener must provide them. */
export function checkClientCertificates(inspection: Inspection): void {
  const { document, origins, report } = inspection
  if (!report.isValid(['listeners'])) return
  for (const [policy, path] of origins.entries(document.policies, ['policies']))
    checkPolicy(inspection, policy, path)
  for (const [route, path] of origins.entries(document.routes, ['routes'])) {
    for (const [entry, entryPath] of origins.entries(route.policies, [...path, 'policies'])) {
      if (typeof entry !== 'string') checkPolicy(inspection, entry, entryPath)
    }
  }
}

function checkPolicy(
  { document, catalog, report }: Inspection,
  policy: PolicyDocument,
  path: DocumentPath,
): void {
  const from = catalog.get(policy.use)?.clientCertificates?.(policy.with as never) ?? null
  if (from === null || !policy.enabled || !report.isValid(path)) return
  const { listeners } = document
  const provides = from === 'connection' ? asksForCertificates : believesForwarded
  if (listeners.some(provides)) return
  report.add({ path: [...path, 'use'], ...issueOf(from, policy.use, listeners) })
}

function issueOf(
  from: 'connection' | 'forwarded',
  use: string,
  listeners: readonly ListenerDocument[],
): { readonly message: string; readonly remedy: string } {
  if (from === 'forwarded')
    return {
      message: `${use} uses x-forwarded-client-cert, but no listener trusts a proxy to set it`,
      remedy: 'set trustedProxies on a listener, with forwardedHeader: x-forwarded-for',
    }
  const isUws = listeners.every(({ engine }) => engine === 'uws')
  return {
    message: isUws
      ? `${use} needs client certificates, which engine: uws does not support`
      : `${use} needs client certificates, but no listener requests them`,
    remedy: `set ${isUws ? 'engine: node and ' : ''}tls.clientCaFile on a listener, or from: xfcc to use those that trusted proxies forward`,
  }
}

function asksForCertificates({ engine, tls }: ListenerDocument): boolean {
  return engine === 'node' && tls?.clientCaFile !== undefined
}

function believesForwarded({ trustedProxies, forwardedHeader }: ListenerDocument): boolean {
  return trustedProxies.length > 0 && forwardedHeader === 'x-forwarded-for'
}
