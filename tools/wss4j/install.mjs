import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { isInstalled, POM, wss4jHome } from './place.mjs'

const FETCH_MS = 600_000
const TOLD_LINES = 20

/** Makes sure that the jars are there. Answers with what went wrong, or null. */
export function installWss4j() {
  const home = wss4jHome()
  if (isInstalled(home)) return null
  console.log(`fetching WSS4J into ${home}, once (18 MB)`)
  try {
    mkdirSync(dirname(home), { recursive: true, mode: 0o755 })
    return fetch(home)
  } catch (error) {
    return `${error.message}; name another folder in SLUICE_CACHE_DIR`
  }
}

function fetch(home) {
  const staging = mkdtempSync(`${home}.`)
  try {
    chmodSync(staging, 0o755)
    const options = ['-B', '-q', '-Dstyle.color=never', '-f', POM, `-Djars.folder=${staging}`]
    const { status, stdout, stderr, error } = spawnSync('mvn', [...options, 'generate-resources'], {
      timeout: FETCH_MS,
      encoding: 'utf8',
    })
    if (error !== undefined) return error.message
    if (status !== 0) return (stdout + stderr).trim().split('\n').slice(-TOLD_LINES).join('\n')
    // Of two runs at once the second finds the folder of the first, which is as good.
    if (!isInstalled(home)) renameSync(staging, home)
    return null
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}
