import type { UpstreamDocument } from '../schema/document.js'

/** True if a target uses TLS. */
export function isSecure(target: UpstreamDocument['targets'][number]): boolean {
  return (typeof target === 'string' ? target : target.url).toLowerCase().startsWith('https:')
}
