import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Runs before `npm start` and `npm test`: installs what package-lock.json asks for when node_modules differs from it,
 * then builds. Silent and quick when there is nothing to do. It runs before anything is installed, and on versions
 * of Node.js too old for the rest, so it uses nothing but old and plain Node.js.
 */
const OLDEST_NODE = [20, 19]
const root = fileURLToPath(new URL('..', import.meta.url))

requireNode()
if (!isInstalled()) install()
build()

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return
  fail(
    `Sluice needs Node.js ${OLDEST_NODE.join('.')} or later, and this is ${process.versions.node}; install version 20 or 22 and try again`,
  )
}

/**
 * npm writes what it has installed to node_modules/.package-lock.json when it is done, so an interrupted or outdated
 * installation is seen here, and one made by hand with `npm install` is not repeated.
 */
function isInstalled() {
  const wanted = lockedPackages('package-lock.json')
  const installed = lockedPackages(join('node_modules', '.package-lock.json'))
  if (installed === null || wanted === null) return false
  return Object.keys(wanted).every((path) => isSatisfied(path, wanted[path], installed[path]))
}

/** Optional packages are those of other platforms; only packages under node_modules are installed at all. */
function isSatisfied(path, wanted, installed) {
  if (!path.startsWith('node_modules/')) return true
  if (installed === undefined) return wanted.optional === true
  return installed.version === wanted.version && installed.integrity === wanted.integrity
}

function lockedPackages(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8')).packages
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

/**
 * `npm ci` wants an entry for every platform's binary packages, and a registry mirror that carries only some of them
 * makes a lock file without the others; `npm install` takes such a lock as it is, with the same integrity checks.
 * `error` keeps out the warning that the engine package, which carries a binary for Node.js 20 too, wants 22.
 */
function install() {
  console.log('installing the dependencies')
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', ['ci', ...quiet], { cwd: root, stdio: 'ignore' })
  if (status !== 0) run('npm', ['install', '--no-save', ...quiet])
}

function build() {
  run(process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc'), '-b'])
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (error !== undefined) fail(`cannot run ${command}: ${error.message}`)
  if (status !== 0) process.exit(status === null ? 1 : status)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
