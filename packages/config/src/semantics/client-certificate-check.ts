import type { DocumentPath } from '../document-path.js'
import type { ListenerDocument, PolicyDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'

/** Policies that ask for the certificates of clients: one listener at least has to provide them. */
export function checkClientCertificates(inspection: Inspection): void {
  const { document, origins, report } = inspection
  if (!report.isSound(['listeners'])) return
  for (const [policy, path] of origins.entries(document.policies, ['policies'])) {
    checkPolicy(inspection, policy, path)
  }
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
  if (from === null || !policy.enabled || !report.isSound(path)) return
  const { listeners } = document
  const provides = from === 'connection' ? asksForCertificates : believesForwarded
  if (listeners.some(provides)) return
  report.add({ path: [...path, 'use'], ...flawOf(from, policy.use, listeners) })
}

function flawOf(
  from: 'connection' | 'forwarded',
  use: string,
  listeners: readonly ListenerDocument[],
): { readonly message: string; readonly remedy: string } {
  if (from === 'forwarded')
    return {
      message: `${use} takes x-forwarded-client-cert from trusted proxies, and no listener has any who may write it`,
      remedy: 'name them in trustedProxies of a listener, with forwardedHeader: x-forwarded-for',
    }
  const isUws = listeners.every(({ engine }) => engine === 'uws')
  return {
    message: isUws
      ? `${use} needs client certificates, for which engine: uws cannot ask`
      : `${use} needs client certificates, for which no listener asks`,
    remedy: `write ${isUws ? 'engine: node and ' : ''}tls.clientCaFile at a listener, or from: xfcc for those of trusted proxies`,
  }
}

function asksForCertificates({ engine, tls }: ListenerDocument): boolean {
  return engine === 'node' && tls?.clientCaFile !== undefined
}

function believesForwarded({ trustedProxies, forwardedHeader }: ListenerDocument): boolean {
  return trustedProxies.length > 0 && forwardedHeader === 'x-forwarded-for'
}
