import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ElasticsearchOptions } from './elasticsearch.js'
import type { ElasticsearchAccess } from './elasticsearch-endpoint.js'
import { allowTraversal, giveToServer } from './elasticsearch-user.js'
import { makeCertificates } from './make-certificates.js'

const USERNAME = 'tester'

/** Directories of a node, and its credentials. */
export interface ElasticsearchFiles {
  readonly config: string
  readonly logs: string
  readonly tmp: string
  readonly access: ElasticsearchAccess | null
}

interface Preparation extends ElasticsearchOptions {
  readonly home: string
  readonly port: number
}

/**
 * Writes the files that a node reads at its start. Data, password and certificates of an earlier start are
 * kept.
 */
export function prepareElasticsearch(preparation: Preparation): ElasticsearchFiles {
  const { home } = preparation
  // The server resolves relative paths against its own directory.
  const dir = resolve(preparation.dir)
  const folders = {
    config: join(dir, 'config'),
    data: join(dir, 'data'),
    logs: join(dir, 'logs'),
    tmp: join(dir, 'tmp'),
  }
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true })
  cpSync(join(home, 'config'), folders.config, { recursive: true })
  const access = preparation.security === true ? grantAccess(dir, folders.config) : null
  const settings = {
    ...baseSettings(preparation.port, folders),
    ...(access === null ? { 'xpack.security.enabled': false } : securitySettings()),
    ...preparation.settings,
  }
  // JSON is valid YAML, so values need no special quoting.
  writeFileSync(join(folders.config, 'elasticsearch.yml'), JSON.stringify(settings, null, 1))
  writeFileSync(join(folders.config, 'jvm.options'), jvmOptions(preparation, folders.tmp).join('\n'))
  allowTraversal(home)
  allowTraversal(dir)
  for (const folder of Object.values(folders)) giveToServer(folder)
  return { ...folders, access }
}

function baseSettings(port: number, { data, logs }: { data: string; logs: string }): object {
  return {
    'cluster.name': 'sluice-test',
    'node.name': `node-${port}`,
    'discovery.type': 'single-node',
    'network.host': '127.0.0.1',
    'http.port': port,
    'transport.port': 0,
    'path.data': data,
    'path.logs': logs,
    // With a full disk, Elasticsearch would make every index read-only.
    'cluster.routing.allocation.disk.threshold_enabled': false,
  }
}

function securitySettings(): object {
  return {
    'xpack.security.enabled': true,
    'xpack.security.enrollment.enabled': false,
    'xpack.security.autoconfiguration.enabled': false,
    'xpack.security.http.ssl.enabled': true,
    'xpack.security.http.ssl.key': 'tls/node.key',
    'xpack.security.http.ssl.certificate': 'tls/node.pem',
  }
}

/**
 * Returns JVM options. The defaults are for servers: a pre-touched heap of half the memory, GC logs and heap
 * dumps. A test node only handles a few thousand records. A measured node uses the garbage collector and
 * compilers of production.
 */
function jvmOptions({ isMeasured = false }: ElasticsearchOptions, tmp: string): string[] {
  const heap = isMeasured ? '2g' : '512m'
  const engine = isMeasured ? ['-XX:+UseG1GC'] : ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
  const memory = [`-Xms${heap}`, `-Xmx${heap}`, '-XX:-AlwaysPreTouch']
  return [...memory, ...engine, '-XX:+ExitOnOutOfMemoryError', `-Djava.io.tmpdir=${tmp}`, '']
}

/** Creates a user in a file. Unlike the built-in user, it is available immediately after the start. */
function grantAccess(dir: string, config: string): ElasticsearchAccess {
  const passwordFile = join(dir, 'password')
  if (!existsSync(passwordFile))
    writeFileSync(passwordFile, randomBytes(12).toString('base64url'), { mode: 0o600 })
  const password = readFileSync(passwordFile, 'utf8')
  writeFileSync(join(config, 'users'), `${USERNAME}:${passwordHash(password)}\n`)
  writeFileSync(join(config, 'users_roles'), `superuser:${USERNAME}\n`)
  return { username: USERNAME, password, caFile: makeCertificates(join(config, 'tls')) }
}

/** Hashes a password in Elasticsearch's format. */
function passwordHash(password: string): string {
  const rounds = 1000
  const salt = randomBytes(32)
  const hash = pbkdf2Sync(password, salt, rounds, 32, 'sha512')
  return `{PBKDF2}${rounds}$${salt.toString('base64')}$${hash.toString('base64')}`
}
