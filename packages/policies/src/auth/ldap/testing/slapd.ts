import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { closedPort } from '@sluice/core/testing'
import { makeCertificate } from '../../../crypto/keys/testing/make-certificate.js'

/** Adds a folder to PATH in which Debian installs slapd, but which is only on the administrator's PATH. */
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` }

/** True if slapd is installed. */
export const hasSlapd: boolean = spawnSync('slapd', ['-VV'], { env }).error === undefined

/** Value of the option `skip` for tests against slapd. On CI the tests always run. */
export const slapdSkip: string | false =
  !hasSlapd && process.env['CI'] !== 'true' && 'slapd is not installed (apt-get install slapd)'

const ROOT = 'dc=example,dc=org'
/** Administrator account. */
export const ADMIN = { dn: `cn=admin,${ROOT}`, password: 'admin-secret' }
export const PEOPLE = `ou=people,${ROOT}`
export const GROUPS = `ou=groups,${ROOT}`

/** An entry: its DN and its attributes. */
export interface LdifEntry {
  readonly dn: string
  readonly [attribute: string]: string | readonly string[]
}

const BASE: readonly LdifEntry[] = [
  { dn: ROOT, objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' },
  { dn: PEOPLE, objectClass: 'organizationalUnit', ou: 'people' },
  { dn: GROUPS, objectClass: 'organizationalUnit', ou: 'groups' },
]

/** Creates a person with a password. */
export function person(
  uid: string,
  password: string,
  more: Record<string, string | readonly string[]> = {},
): LdifEntry {
  const escaped = uid.replaceAll(/[,+"\\<>;#= ]/g, (character) => `\\${character}`)
  const dn = `uid=${escaped},${PEOPLE}`
  return { dn, objectClass: 'inetOrgPerson', uid, cn: `The ${uid}`, sn: uid, userPassword: password, ...more }
}

/** Creates a group of entries. */
export function group(cn: string, ...members: readonly string[]): LdifEntry {
  return { dn: `cn=${cn},${GROUPS}`, objectClass: 'groupOfNames', cn, member: members }
}

/** OpenLDAP server on the loopback address with its own directory. */
export class Slapd {
  readonly url: string
  readonly secureUrl: string
  /** Path of its certificate, which names localhost. */
  readonly caFile: string
  readonly pid: number
  readonly #folder: string
  readonly #child: ChildProcess
  #log = ''

  private constructor(folder: string, ports: readonly [number, number]) {
    this.#folder = folder
    this.url = `ldap://127.0.0.1:${ports[0]}`
    this.secureUrl = `ldaps://127.0.0.1:${ports[1]}`
    this.caFile = join(folder, 'cert.pem')
    const args = ['-f', join(folder, 'slapd.conf'), '-h', `${this.url} ${this.secureUrl}`, '-d', 'stats']
    this.#child = spawn('slapd', args, { stdio: ['ignore', 'ignore', 'pipe'], env })
    this.pid = this.#child.pid!
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#log += text))
  }

  /** @param options additional configuration lines. @param parent parent of the folder for its files. */
  static async start(
    entries: readonly LdifEntry[],
    options: readonly string[] = [],
    parent: string = tmpdir(),
  ): Promise<Slapd> {
    const folder = mkdtempSync(join(parent, 'sluice-slapd-'))
    mkdirSync(join(folder, 'db'))
    const pair = makeCertificate({ name: 'localhost', kind: 'ec', isAuthority: true })
    writeFileSync(join(folder, 'cert.pem'), pair.certificatePem)
    writeFileSync(join(folder, 'key.pem'), pair.keyPem)
    writeFileSync(join(folder, 'slapd.conf'), configurationIn(folder, options))
    writeFileSync(join(folder, 'data.ldif'), [...BASE, ...entries].map(ldifOf).join('\n'))
    const files = ['-f', join(folder, 'slapd.conf'), '-l', join(folder, 'data.ldif')]
    const added = spawnSync('slapadd', ['-q', ...files], { env })
    if (added.status !== 0) throw new Error(`slapadd: ${added.stderr}`)
    const slapd = new Slapd(folder, [await closedPort(), await closedPort()])
    await slapd.#ready()
    return slapd
  }

  /** Returns the number of logged binds of a name. */
  bindsOf(dn: string): number {
    return this.#log.split(`BIND dn="${dn}" method=`).length - 1
  }

  /** Number of logged connections. */
  get connections(): number {
    return this.#log.split(' ACCEPT from ').length - 1
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL')
      await once(this.#child, 'exit')
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #ready(): Promise<void> {
    while (!this.#log.includes('slapd starting')) {
      if (this.#child.exitCode !== null) throw new Error(`slapd: ${this.#log}`)
      await Promise.race([once(this.#child.stderr!, 'data'), once(this.#child, 'exit')])
    }
    // The message is logged before the server listens.
    while (!(await accepts(this.url)) || !(await accepts(this.secureUrl))) await setTimeout(5)
  }
}

async function accepts(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = net.connect({ host: hostname, port: Number(port) })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function configurationIn(folder: string, options: readonly string[]): string {
  return [
    ...['core', 'cosine', 'inetorgperson'].map((name) => `include /etc/ldap/schema/${name}.schema`),
    `TLSCertificateFile ${join(folder, 'cert.pem')}`,
    `TLSCertificateKeyFile ${join(folder, 'key.pem')}`,
    ...options.filter((line) => !line.startsWith('access')),
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    'database mdb',
    'maxsize 16777216',
    `suffix "${ROOT}"`,
    `rootdn "${ADMIN.dn}"`,
    `rootpw ${ADMIN.password}`,
    `directory ${join(folder, 'db')}`,
    'dbnosync',
    'index uid,member eq',
    ...options.filter((line) => line.startsWith('access')),
    '',
  ].join('\n')
}

function ldifOf({ dn, ...attributes }: LdifEntry): string {
  const line = (name: string, value: string): string => `${name}:: ${Buffer.from(value).toString('base64')}\n`
  const lines = Object.entries(attributes).flatMap(([name, values]) =>
    [values].flat().map((value) => line(name, value)),
  )
  return line('dn', dn) + lines.join('')
}
