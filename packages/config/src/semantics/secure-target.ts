import type { UpstreamDocument } from '../schema/document.js'

/** Whether a target is spoken to over TLS. */
export function isSecure(target: UpstreamDocument['targets'][number]): boolean {
  return (typeof target === 'string' ? target : target.url).toLowerCase().startsWith('https:')
}
