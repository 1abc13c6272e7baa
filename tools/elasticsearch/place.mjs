import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from '../cache-folder.mjs'

/** The release that is tested against, and the digest of its archive. */
export const VERSION = '8.19.21'
export const ARCHIVE_SHA256 = '215d5f3dbf0609a149f6218a9e47b6ae2df34ebbff3c5754e35f15a5e5393c8a'

const here = dirname(fileURLToPath(import.meta.url))
export const POM = join(here, 'pom.xml')

/** The sources of the plugin that goes into the installation. */
export const SHIM_SOURCES = readdirSync(join(here, 'shim'))
  .filter((name) => name.endsWith('.java'))
  .sort()
  .map((name) => join(here, 'shim', name))

/** The folder of the installation, whether it is there or not. */
export function elasticsearchHome() {
  return join(cacheFolder(), `elasticsearch-${VERSION}`)
}

/** Holds the stamp of what an installation was made from; it is written last. */
export function stampFile(home) {
  return join(home, '.made-from')
}

/** Another version of the plugin or of the archive makes an installation again. */
export function wantedStamp() {
  const hash = createHash('sha256').update(ARCHIVE_SHA256)
  for (const source of SHIM_SOURCES) hash.update(readFileSync(source))
  return hash.digest('hex')
}

export function isInstalled(home) {
  try {
    return readFileSync(stampFile(home), 'utf8') === wantedStamp()
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
}
