import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * Where fetched programs are. Elasticsearch refuses to run as root, and the user it runs as instead cannot look into
 * root's home.
 */
export function cacheFolder() {
  const { SLUICE_CACHE_DIR, XDG_CACHE_HOME } = process.env
  if (SLUICE_CACHE_DIR) return resolve(SLUICE_CACHE_DIR)
  if (process.getuid?.() === 0) return '/var/cache/sluice'
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice')
}
