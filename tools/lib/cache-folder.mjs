import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * Returns the folder for fetched programs. For root it is outside root's home, because Elasticsearch runs as another
 * user that cannot read it.
 */
export function cacheFolder() {
  const { SLUICE_CACHE_DIR, XDG_CACHE_HOME } = process.env
  if (SLUICE_CACHE_DIR) return resolve(SLUICE_CACHE_DIR)
  if (process.getuid?.() === 0) return '/var/cache/sluice'
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice')
}
