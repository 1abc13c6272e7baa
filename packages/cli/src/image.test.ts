import assert from 'node:assert/strict'
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Podman } from './testing/podman.js'
import { origin, scratch, until } from './testing.js'

// The image, built of this repository on a Debian of the tests and run as a cluster would: with no right that it can do without.

const FOLDER = process.env['SLUICE_IMAGE_BASE'] ?? ''
const OBSTACLE = process.env['SLUICE_NO_CONTAINERS'] ?? ''
const skip =
  FOLDER === '' && `needs podman, runc and debootstrap${OBSTACLE && `: ${OBSTACLE}`}; see npm run services`

const USER = 10_001
const MEMORY_MIB = 512
const RESTRICTIONS = [
  '--read-only',
  '--read-only-tmpfs=false',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  `--memory=${MEMORY_MIB}m`,
  '--cpus=1',
]
/** Over the base. */
const MOST_BYTES = 150e6

const podman = new Podman(FOLDER)
const image = `localhost/sluice:test-${process.pid}`

interface Container {
  readonly name: string
  readonly url: string
  readonly admin: string
  /** Where its volume is on this machine. */
  readonly data: string
  readonly log: () => string
  /** Its exit code. */
  readonly ended: Promise<number | null>
  /** A program in it. */
  readonly exec: (...command: string[]) => ReturnType<Podman['try']>
}

test('the image', { skip }, async (t) => {
  t.after(() => podman.try('rmi', '--force', image))
  podman.build(image)
  await t.test('has the right start command and a small size', (sub) => inspectImage(sub))
  let release: (() => void) | undefined
  const target = await origin(t, (req, res: ServerResponse) => {
    if (req.url !== '/held') res.end('at once')
    else release = () => res.end('late')
  })
  const container = await start(t, target)
  await t.test('contains only what the gateway needs', () => inspectContent(container))
  await t.test('runs without root, capabilities or a writable root', () => inspectProcess(container))
  await t.test('reads its CPU and memory limits', () => inspectLimits(container))
  await t.test('has a health command', () => inspectHealth(container))
  await t.test('leaves no zombies', () => leaveOrphan(container))

  await t.test('drains on SIGTERM, exits with 0, and the log on its volume is complete', async () => {
    for (let i = 0; i < 20; i++) assert.equal(await textAt(`${container.url}/${i}`), 'at once')
    const held = textAt(`${container.url}/held`)
    await until(() => release !== undefined)
    podman.run('kill', '--signal=TERM', container.name)
    await until(() => container.log().includes('drain.begun'), container.log)
    release?.()
    assert.equal(await held, 'late')
    assert.equal(await container.ended, 0)
    const paths = [...Array(20).keys(), 'held'].map((name) => `/${name} 200`)
    assert.deepEqual(loggedCalls(container.data).sort(), paths.sort())
  })
})

function inspectImage(t: TestContext): void {
  const [facts] = JSON.parse(podman.run('image', 'inspect', image))
  const bytes = facts.Size - Number(podman.run('image', 'inspect', '--format={{.Size}}', podman.base))
  t.diagnostic(`the image is ${Math.round(bytes / 1e6)} MB larger than its base`)
  assert.ok(bytes < MOST_BYTES)
  const { User, StopSignal, Volumes, Entrypoint, Cmd, Labels } = facts.Config
  assert.deepEqual([User, StopSignal, Volumes], [`${USER}:${USER}`, 'SIGTERM', { '/var/lib/sluice': {} }])
  assert.deepEqual(Entrypoint.slice(-1), ['/opt/sluice/bin/gw'])
  assert.deepEqual(Cmd, ['start', '/etc/sluice/gateway.yaml'])
  assert.deepEqual(facts.Healthcheck.Test, ['CMD', '/opt/sluice/bin/gw', 'health'])
  const history = podman.run('history', '--no-trunc', '--format={{.CreatedBy}}', image).split('\n')
  assert.ok(
    history.some((line) => /COPY .*\/opt\/sluice\/node_modules/.test(line)),
    'a layer of dependencies',
  )
  for (const name of ['title', 'description', 'licenses', 'version', 'revision', 'created'])
    assert.ok(Labels[`org.opencontainers.image.${name}`], name)
}

async function start(t: TestContext, target: string): Promise<Container> {
  const dir = scratch(t)
  const [etc, data] = [join(dir, 'etc'), join(dir, 'data')]
  for (const folder of [etc, data]) mkdirSync(folder)
  chownSync(data, USER, USER)
  writeFileSync(join(etc, 'gateway.yaml'), documentOf(target))
  const name = `sluice-test-${process.pid}`
  t.after(() => podman.try('rm', '--force', '--time=0', name))
  const volumes = [`--volume=${etc}:/etc/sluice:ro`, `--volume=${data}:/var/lib/sluice`]
  const startMono = performance.now()
  const how = ['--pull=never', '--network=host', '--no-healthcheck', `--name=${name}`]
  const { text: log, ended } = podman.begin('run', ...how, ...RESTRICTIONS, ...volumes, image)
  await until(() => log().includes('admin API on'), log)
  t.diagnostic(`ready ${Math.round(performance.now() - startMono)} ms after podman run`)
  return {
    name,
    url: /listening on (\S+)/.exec(log())![1]!,
    admin: /admin API on (\S+)/.exec(log())![1]!,
    data,
    log,
    ended,
    exec: (...command) => podman.try('exec', name, ...command),
  }
}

function documentOf(target: string): string {
  return `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
drain: { delay: 0s, timeout: 1m }
upstreams: { up: { targets: ["${target}"] } }
routes: [{ id: all, match: { path: /* }, upstream: up }]
`
}

function inspectContent({ exec }: Container): void {
  const files = exec('find', '/opt/sluice', '-type', 'f').stdout.split('\n')
  const natives = files.filter((file) => /uws_.*\.node$/.test(file))
  assert.equal(natives.length, 1)
  assert.match(natives[0]!, new RegExp(`_linux_${process.arch}_127\\.node$`))
  assert.deepEqual(
    files.filter((file) =>
      /\.(map|d\.[cm]?ts|test\.js)$|\/node_modules\/(autocannon|typescript)\/|\/bench\//.test(file),
    ),
    [],
  )
  // The same sources make the same image.
  assert.equal(exec('find', '/opt/sluice', '-not', '-type', 'd', '-newermt', '1970-01-02').stdout, '')
  const bill = JSON.parse(exec('cat', '/opt/sluice/sbom.cdx.json').stdout)
  assert.equal(bill.metadata.timestamp, '1970-01-01T00:00:00.000Z')
  assert.match(bill.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8/)
  const version = exec('node', '--version').stdout.trim().slice(1)
  const programs = bill.components.filter(({ purl }: { purl: string }) => purl.startsWith('pkg:generic/'))
  assert.deepEqual(
    programs.map((one: { purl: string }) => one.purl.replace(/(tini@)[0-9.]+$/, '$1')),
    [`pkg:generic/node@${version}`, 'pkg:generic/tini@'],
  )
  const names: string[] = bill.components.map((one: { purl: string }) => one.purl.replace(/@[^@]*$/, ''))
  assert.deepEqual([bill.bomFormat, bill.metadata.component.name], ['CycloneDX', 'sluice'])
  for (const name of ['undici', 'uws-pack', '%40sluice/gateway'])
    assert.ok(names.includes(`pkg:npm/${name}`), name)
  assert.deepEqual(
    names.filter((name) => /autocannon|fast-check|typescript|bench/.test(name)),
    [],
  )
  const installed = new Set(
    files.flatMap((file) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
  )
  // An alias is listed under its own name.
  const known = new Set(bill.components.map((one: { purl: string }) => nameIn(one.purl)))
  assert.deepEqual(
    [...installed].filter((name) => name !== 'uWebSockets.js' && !known.has(name)),
    [],
  )
}

/** `pkg:npm/%40scope/name@1.0.0`. */
function nameIn(purl: string): string {
  return decodeURIComponent(purl)
    .replace(/^pkg:npm\//, '')
    .replace(/@[^@]*$/, '')
}

function inspectProcess({ name, exec }: Container): void {
  const status = readFileSync(`/proc/${pidOf(name)}/status`, 'utf8')
  assert.match(status, new RegExp(`^Uid:\\t${USER}\\t${USER}\\t${USER}\\t${USER}$`, 'm'))
  assert.match(status, /^NoNewPrivs:\t1$/m)
  for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
    assert.match(status, new RegExp(`^Cap${set}:\\t0+$`, 'm'))
  for (const place of ['/opt/sluice/x', '/etc/x', '/tmp/x']) {
    const written = exec('touch', place)
    assert.notEqual(written.status, 0)
    assert.match(written.stderr, /Read-only|Permission denied/)
  }
}

async function inspectLimits({ admin, exec }: Container): Promise<void> {
  const { workers } = JSON.parse(await textAt(`${admin}/v1/status`))
  // One CPU, however many the machine has.
  assert.equal(workers.length, 1)
  const commands = exec('sh', '-c', 'tr "\\0" " " < /proc/$0/cmdline', String(workers[0].pid)).stdout
  assert.match(commands, new RegExp(`--max-old-space-size=${Math.floor(MEMORY_MIB * 0.65)} `))
}

function inspectHealth({ name, admin }: Container): void {
  const check = (url: string) => podman.try('exec', `--env=GW_SERVER=${url}`, name, 'gw', 'health')
  assert.deepEqual([check(admin).status, check(admin).stdout], [0, 'ready\n'])
  assert.equal(check('http://127.0.0.1:1').status, 5)
}

/** A process whose parent is gone is the first process's to bury. */
async function leaveOrphan({ exec }: Container): Promise<void> {
  assert.equal(exec('sh', '-c', 'sleep 0.1 & exit').status, 0)
  await until(() => !exec('sh', '-c', 'cat /proc/[0-9]*/comm').stdout.includes('sleep'))
}

function pidOf(name: string): string {
  return podman.run('inspect', '--format={{.State.Pid}}', name)
}

function loggedCalls(data: string): string[] {
  const dir = join(data, 'data', 'traffic')
  const lines = readdirSync(dir).flatMap((file) => readFileSync(join(dir, file), 'utf8').split('\n'))
  return lines
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ url, res }) => `${url.path} ${res.status}`)
}

async function textAt(url: string): Promise<string> {
  return (await fetch(url)).text()
}
