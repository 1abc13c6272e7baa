import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashKey } from '@sluice/policies'
import { parse } from 'yaml'
import {
  blocksOf,
  commandsOf,
  PAGES,
  patternOf,
  ROOT,
  type ShownCommand,
  simplified,
} from './testing/guide-pages.js'
import { type CommandResult, type PageShell, parseOnly, startPageShell } from './testing/page-shell.js'
import { closedPort, scratch, spawnGw, until } from './testing.js'

/** Commands that are parsed but not run, with the reason. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/^npm start/, 'start.test.mjs runs the demo'],
  [/gw bench (?!list)/, 'measures for seconds to hours, or needs such results; the tests of bench run it'],
  [/gw log-setup|logs search -c gateway.yaml (--since 1h --where|-o)/, 'elasticsearch.test.ts runs it'],
  [/gw cache-server/, 'runs until it is stopped; cache-server.test.ts runs it'],
  [/--kubernetes|gw deploy kubernetes (?!.*--helm-values)/, 'needs a cluster; cluster-tests runs it'],
  [
    /gw (control|fleet)|gw (deploy|diff|rollback|show) .*--group/,
    'needs a controller and gateways; group-of-gateways.test.ts and deploy-group.test.ts run it',
  ],
  [/gw (init|dev)/, 'init.test.ts and dev.test.ts run them'],
  [/gw trace/, 'waits for live requests; trace.test.ts runs it'],
  [/gw service install/, 'changes systemd; systemd.test.mjs runs it'],
  [/gw completion fish/, 'needs fish'],
  [/gw import/, 'needs files of other programs; the tests in import/ run it'],
  [/gw upgrade/, 'replaces the processes of the gateway; upgrade.test.ts runs it'],
]
/** Commands that need a gateway with the document of the page. */
const NEEDS_GATEWAY = /\bcurl |gw (status|logs|cache |limits|quota|upstream|bans|diff)/
const KEY = 'gw_acme_key_of_the_guides'
const PASSWORD = 'a password'
const LOG_KEY = 'a key of more than sixteen characters'
const ENV = { ACME_KEY_SHA256: hashKey(KEY), LOG_KEY, GW_LOG_KEY: LOG_KEY }
/** What readers replace or type. */
const TYPED: readonly (readonly [string, string])[] = [
  ['gw_…', KEY],
  ['=…', `=${ENV.ACME_KEY_SHA256}`],
  ['-u root', `-u 'root:${PASSWORD}'`],
  ['hash-password', `hash-password <<< '${PASSWORD}'`],
]
/** Ports of listeners, admin API and metrics. At other addresses there is an echo server. */
const OWN_PORTS = ['8080', '8443', '9901', '9902']
const ADDRESS = /(127\.0\.0\.1|localhost|\*|10(?:\.\d+){3}):(\d{4,5})\b/g
const QUICKSTART = 'examples/quickstart/gateway.yaml'

/** Addresses on the pages, with those of this test. */
const addresses = new Map<string, string>()
const toOwn = (text: string): string => replaceEach(text, addresses)
const toShown = (text: string): string =>
  replaceEach(
    text,
    [...addresses].map(([shown, own]) => [own, shown]),
  )

test('the commands of the guides run and print what the pages show', async (t) => {
  const folder = scratch(t)
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const quickstart = readFileSync(new URL(QUICKSTART, ROOT), 'utf8').replace(/^workers.*/m, 'workers: 1')
  await findAddresses(
    t,
    quickstart +
      PAGES.flatMap(blocksOf)
        .map(({ text }) => text)
        .join(''),
  )
  for (const path of ['replies/requests', '.zfunc/_gw', 'calls.ndjson']) write(path, '')
  for (const path of [QUICKSTART, 'quickstart.yaml']) write(path, toOwn(quickstart))
  write('password.txt', PASSWORD)
  write('key-2026-11', LOG_KEY)
  const certificate = makeCertificate(folder)
  const shell = await startPageShell(t, folder)
  const gateway = spawnGw(t, ['start', 'quickstart.yaml'], { cwd: folder, env: ENV })
  await until(() => gateway.stdout().includes('admin API on') || gateway.process.exitCode !== null)
  assert.equal(gateway.process.exitCode, null, gateway.stderr())

  for (const page of PAGES) {
    await t.test(page, async () => {
      for (const { language, text, place } of blocksOf(page)) {
        if (language === 'js') write('node_modules/sluice-plugin-tenants/index.js', text)
        if (text.includes('"contract"')) write('node_modules/sluice-plugin-tenants/package.json', text)
        if (language === 'yaml') write(documentFile(place), toOwn(completed(text)))
        const [, file] = /^(?:#|\/\/) (tests\/\S+)\n/.exec(text) ?? []
        if (file !== undefined) write(file, text)
        for (const [, kind, file] of text.matchAll(/(cert|key|ca)File: ([^\s,}]+)/gi))
          write(file!, kind === 'key' ? certificate.key : certificate.cert)
      }
      assert.deepEqual(await problemsOf(page, shell), [])
    })
  }
})

/** Chooses an address of this machine for each address in the text. */
async function findAddresses(t: TestContext, text: string): Promise<void> {
  const { startEcho } = (await import(new URL('examples/quickstart/echo.mjs', ROOT).href)) as {
    startEcho: (port: number) => Promise<Server>
  }
  const ports = new Map<string, number>()
  for (const port of OWN_PORTS) ports.set(port, await closedPort())
  for (const [address, host, port] of text.matchAll(ADDRESS)) {
    if (addresses.has(address)) continue
    const own = ports.get(port!) ?? (await echoPort())
    addresses.set(address, `${host === 'localhost' ? host : '127.0.0.1'}:${own}`)
  }
  async function echoPort(): Promise<number> {
    const server = await startEcho(0)
    server.prependListener('request', (_, response: ServerResponse) =>
      response.setHeader('cache-control', 'max-age=60'),
    )
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    return (server.address() as AddressInfo).port
  }
}

function makeCertificate(folder: string): { readonly cert: string; readonly key: string } {
  const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=localhost']
  execFileSync('openssl', ['req', '-x509', ...options, '-keyout', 'key', '-out', 'cert'], {
    cwd: folder,
    stdio: 'ignore',
  })
  return { cert: readFileSync(join(folder, 'cert'), 'utf8'), key: readFileSync(join(folder, 'key'), 'utf8') }
}

function documentFile(place: string): string {
  return `${basename(place).replace(':', '-')}.yaml`
}

/** Completes an excerpt of a document. */
function completed(text: string): string {
  const keys = (parse(text) ?? {}) as {
    readonly policies?: readonly { readonly id: string }[]
    readonly upstreams?: unknown
  }
  const upstreams = new Set([...text.matchAll(/upstream: (\w+)/g)].map(([, name]) => name))
  const targets = [...upstreams].map((name) => `${name}: { targets: [http://127.0.0.1:9000] }`)
  const action = keys.upstreams === undefined ? 'respond: {}' : 'upstream: orders'
  const policies = (keys.policies ?? []).map(({ id }) => id)
  const missing = Object.entries({
    version: '1',
    workers: '1',
    listeners: '[{ address: "127.0.0.1:8080" }]',
    admin: '{ address: "127.0.0.1:9901" }',
    upstreams: `{ ${targets.join(', ')} }`,
    routes: `[{ id: orders, match: { path: /orders/* }, ${action}, policies: [${policies.join(', ')}] }]`,
  }).filter(([key]) => !(key in keys))
  return `${text}${missing.map(([key, value]) => `${key}: ${value}\n`).join('')}`
}

/** Runs the commands of a page with its documents. A command above the first document uses that one. */
async function problemsOf(page: string, shell: PageShell): Promise<readonly string[]> {
  const blocks = blocksOf(page)
  const first = page === 'README.md' ? undefined : blocks.find(({ language }) => language === 'yaml')
  const steps: (readonly [ShownCommand, string])[] = []
  const step = (place: string, line: string): void =>
    void steps.push([{ place, command: line, output: null }, line])
  let isDeployed = false
  const use = (file: string): void => {
    step(page, `cp ${file} gateway.yaml`)
    isDeployed = false
  }
  use(first === undefined ? 'quickstart.yaml' : documentFile(first.place))
  for (const block of blocks) {
    if (block.language === 'yaml' && block !== first) use(documentFile(block.place))
    for (const shown of block.language === '' ? commandsOf(block) : []) {
      const line = toOwn(replaceEach(shown.command, TYPED))
      if (isRun(shown) && NEEDS_GATEWAY.test(line) && !isDeployed) {
        step(shown.place, 'gw deploy -c gateway.yaml')
        isDeployed = true
      }
      steps.push([shown, isRun(shown) ? line : parseOnly(line)])
    }
  }
  const env = { ...ENV, GW_SERVER: `http://${addresses.get('127.0.0.1:9901')}` }
  const results = await shell(
    steps.map(([, line]) => line),
    env,
  )
  return steps.flatMap(([shown], i) => problemOf(shown, results[i]!))
}

function replaceEach(text: string, pairs: Iterable<readonly [string, string]>): string {
  return [...pairs].reduce((all, [from, to]) => all.replaceAll(from, to), text)
}

function isRun({ command }: ShownCommand): boolean {
  return !NOT_RUN.some(([pattern]) => pattern.test(command))
}

function problemOf(shown: ShownCommand, result: CommandResult): readonly string[] {
  const actual = toShown(result.output)
  const isAsShown =
    shown.output === null || !isRun(shown)
      ? result.code === 0
      : patternOf(shown.output).test(simplified(actual))
  if (process.env.SHOW_OUTPUT !== undefined)
    console.log(`### ${shown.place}: ${shown.command} [${result.code}]\n${actual}`)
  return isAsShown
    ? []
    : [`${shown.place}: '${shown.command}' ended with ${result.code} and printed\n${actual}`]
}
