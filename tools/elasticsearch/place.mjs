import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from '../lib/cache-folder.mjs'

/** Version of Elasticsearch that the tests use. */
export const VERSION = '8.19.21'
/** SHA-256 of the archive. */
export const ARCHIVE_SHA256 = '215d5f3dbf0609a149f6218a9e47b6ae2df34ebbff3c5754e35f15a5e5393c8a'

const here = dirname(fileURLToPath(import.meta.url))
/** Maven project that fetches the archive. */
export const POM = join(here, 'pom.xml')

/** Sources of the plugin in the installation. */
export const SHIM_SOURCES = readdirSync(join(here, 'shim'))
  .filter((name) => name.endsWith('.java'))
  .sort()
  .map((name) => join(here, 'shim', name))

/** Returns the folder of the installation, which may not exist. */
export function elasticsearchHome() {
  return join(cacheFolder(), `elasticsearch-${VERSION}`)
}

/** Returns the file with the stamp of an installation. It is written last. */
export function stampFile(home) {
  return join(home, '.made-from')
}

/** Returns the stamp of the current versions of plugin and archive. A different stamp triggers a new installation. */
export function wantedStamp() {
  const hash = createHash('sha256').update(ARCHIVE_SHA256)
  for (const source of SHIM_SOURCES) hash.update(readFileSync(source))
  return hash.digest('hex')
}

/** True if the installation is complete and current. */
export function isInstalled(home) {
  try {
    return readFileSync(stampFile(home), 'utf8') === wantedStamp()
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
}
