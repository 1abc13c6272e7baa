import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  ARCHIVE_SHA256,
  elasticsearchHome,
  isInstalled,
  POM,
  SHIM_SOURCES,
  stampFile,
  VERSION,
  wantedStamp,
} from './place.mjs'

/**
 * Builds the installation in a temporary folder and moves it to its place when it is complete. `install.mjs` runs this
 * under a lock.
 */
const FETCH_MS = 900_000
const COMPILE_MS = 180_000

const home = elasticsearchHome()
// Another user must be able to read it if root installs it.
process.umask(0o022)
try {
  if (!isInstalled(home)) build()
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

function build() {
  const staging = mkdtempSync(`${home}.`)
  try {
    const built = unpack(fetchArchive(staging), staging)
    addShim(built, join(staging, 'classes'))
    writeFileSync(stampFile(built), wantedStamp())
    rmSync(home, { recursive: true, force: true })
    renameSync(built, home)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

function fetchArchive(staging) {
  const properties = [`-Darchive.folder=${staging}`, `-Darchive.version=${VERSION}`]
  run('mvn', ['-B', '-q', '-Dstyle.color=never', '-f', POM, ...properties, 'generate-resources'], {
    timeout: FETCH_MS,
  })
  const archive = join(staging, `elasticsearch-${VERSION}.zip`)
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex')
  if (digest !== ARCHIVE_SHA256) throw new Error(`the archive of Elasticsearch has the digest ${digest}`)
  return archive
}

/** Unpacks with `jar`, which is part of the JDK. It drops file permissions. */
function unpack(archive, staging) {
  run('jar', ['--extract', '--file', archive], { cwd: staging, timeout: COMPILE_MS })
  const built = join(staging, `elasticsearch-${VERSION}`)
  for (const name of readdirSync(join(built, 'bin'))) chmodSync(join(built, 'bin', name), 0o755)
  return built
}

function addShim(built, classes) {
  const plugin = join(built, 'plugins', 'sluice-test-shim')
  mkdirSync(plugin, { recursive: true })
  const compile = ['--release', '17', '-nowarn', '-cp', join(built, 'lib', '*'), '-d', classes]
  run('javac', [...compile, ...SHIM_SOURCES], { timeout: COMPILE_MS })
  run('jar', ['--create', '--file', join(plugin, 'shim.jar'), '-C', classes, '.'], { timeout: COMPILE_MS })
  const descriptor = {
    name: 'sluice-test-shim',
    description: 'what the archive for tests lacks',
    version: '1',
    classname: 'sluice.testing.TestShim',
    'java.version': '17',
    'elasticsearch.version': VERSION,
  }
  const lines = Object.entries(descriptor).map(([key, value]) => `${key}=${value}\n`)
  writeFileSync(join(plugin, 'plugin-descriptor.properties'), lines.join(''))
}

function run(command, args, options) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { ...options, encoding: 'utf8' })
  if (error !== undefined) throw new Error(`cannot run ${command}: ${error.message}`)
  if (status !== 0) throw new Error(`${command} failed:\n${stdout}${stderr}`)
}
