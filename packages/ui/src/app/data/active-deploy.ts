import type { Deploy, Deploys } from './admin-api.js'

/** Returns true for the newest deploy of the active document. Older deploys may have the same one. */
export function isActive({ id }: Deploy, { digest, deploys }: Deploys): boolean {
  return deploys.find((deploy) => deploy.digest === digest)?.id === id
}
