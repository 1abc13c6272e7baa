import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ElasticsearchOptions } from './elasticsearch.js'
import type { ElasticsearchAccess } from './elasticsearch-endpoint.js'
import { giveToServer, openTheWay } from './elasticsearch-user.js'
import { makeCertificates } from './make-certificates.js'

const USERNAME = 'tester'

/** The folders of one node, and who may use it. */
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

/** Writes what a node reads when it starts; data, password and certificates of an earlier start are kept. */
export function prepareElasticsearch(preparation: Preparation): ElasticsearchFiles {
  const { home } = preparation
  // The server takes a relative path for one below its own folder.
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
  // JSON is YAML, so no value needs quoting rules of its own.
  writeFileSync(join(folders.config, 'elasticsearch.yml'), JSON.stringify(settings, null, 1))
  writeFileSync(join(folders.config, 'jvm.options'), jvmOptions(preparation, folders.tmp).join('\n'))
  openTheWay(home)
  openTheWay(dir)
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
    // A full disk of the machine would make every index read-only.
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
 * The archive's options are for servers: a heap of half the machine that is touched at once, logs of the collector and
 * heap dumps. A node of the tests lives for a few thousand records; one that is measured has
 * the collector and the compilers of production.
 */
function jvmOptions({ isMeasured = false }: ElasticsearchOptions, tmp: string): string[] {
  const heap = isMeasured ? '2g' : '512m'
  const engine = isMeasured ? ['-XX:+UseG1GC'] : ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
  const memory = [`-Xms${heap}`, `-Xmx${heap}`, '-XX:-AlwaysPreTouch']
  return [...memory, ...engine, '-XX:+ExitOnOutOfMemoryError', `-Djava.io.tmpdir=${tmp}`, '']
}

/** A user in a file is known from the first moment, unlike the built-in one, whose index has to be found first. */
function grantAccess(dir: string, config: string): ElasticsearchAccess {
  const passwordFile = join(dir, 'password')
  if (!existsSync(passwordFile))
    writeFileSync(passwordFile, randomBytes(12).toString('base64url'), { mode: 0o600 })
  const password = readFileSync(passwordFile, 'utf8')
  writeFileSync(join(config, 'users'), `${USERNAME}:${passwordHash(password)}\n`)
  writeFileSync(join(config, 'users_roles'), `superuser:${USERNAME}\n`)
  return { username: USERNAME, password, caFile: makeCertificates(join(config, 'tls')) }
}

/** In the form in which Elasticsearch writes it. */
function passwordHash(password: string): string {
  const rounds = 1000
  const salt = randomBytes(32)
  const hash = pbkdf2Sync(password, salt, rounds, 32, 'sha512')
  return `{PBKDF2}${rounds}$${salt.toString('base64')}$${hash.toString('base64')}`
}
