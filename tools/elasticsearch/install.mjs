import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { elasticsearchHome, isInstalled, VERSION } from './place.mjs'

const BUILD = fileURLToPath(new URL('build.mjs', import.meta.url))
/** Time limit of the lock in seconds. A slow download may take minutes. */
const LOCKED_SECONDS = 1200
const SHOWN_LINES = 20

/**
 * Installs the server if necessary. Returns an error message, or null. The kernel releases the lock if a run is killed.
 * The second of two runs uses the installation of the first.
 */
export function installElasticsearch() {
  const home = elasticsearchHome()
  if (isInstalled(home)) return null
  console.log(`fetching Elasticsearch ${VERSION} into ${home}, once (107 MB, then 120 MB on disk)`)
  try {
    mkdirSync(dirname(home), { recursive: true, mode: 0o755 })
  } catch (error) {
    return `${error.message}; name another folder in SLUICE_CACHE_DIR`
  }
  const lock = join(dirname(home), `elasticsearch-${VERSION}.lock`)
  const command = ['--wait', String(LOCKED_SECONDS), lock, process.execPath, BUILD]
  const { status, stdout, stderr, error } = spawnSync('flock', command, { encoding: 'utf8' })
  if (status === 0) return null
  return error === undefined ? lastLines(stdout + stderr) : error.message
}

function lastLines(text) {
  return text.trim().split('\n').slice(-SHOWN_LINES).join('\n')
}
