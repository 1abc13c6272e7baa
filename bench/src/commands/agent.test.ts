import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileWith, type GwProcess, gw, scratch, spawnGw, until } from '@sluice/cli/testing'
import { gwInProcess } from '@sluice/cli/testing/in-process'
import type { Summary } from '../model/summary.js'
import { findProgram } from '../process/executables.js'
import { commandOf, processesWith } from '../testing/processes.js'
import { agentsOf } from './agent.js'

const TOKEN = 'token-of-the-agents'
const ROLES = ['generator', 'origin', 'gateway'] as const

interface Agents {
  readonly agents: readonly GwProcess[]
  /** Options for `gw bench run`. */
  readonly options: readonly string[]
  /** Folder for their temporary folders. */
  readonly temporary: string
}

function secretFile(t: TestContext, text: string): string {
  const file = fileWith(t, text, 'token')
  spawnSync('chmod', ['600', file])
  return file
}

async function startAgents(t: TestContext, ...args: readonly string[]): Promise<Agents> {
  const tokenFile = secretFile(t, `${TOKEN}\n`)
  const temporary = scratch(t)
  const token = ['--token-file', tokenFile]
  const agents = ROLES.map(() =>
    spawnGw(t, ['bench', 'agent', '--listen', '127.0.0.1:0', ...token, ...args], {
      env: { TMPDIR: temporary },
    }),
  )
  const urls: string[] = []
  for (const agent of agents) {
    await until(() => agent.stdout().includes('\n'), agent.stderr)
    urls.push(/^agent on (?:http:\/\/)?(\S+)/.exec(agent.stdout())![1]!)
  }
  const list = ROLES.map((role, i) => `${role}=${urls[i]}`).join(',')
  return { agents, temporary, options: ['--agents', list, '--agent-token-file', tokenFile] }
}

const SHORT = ['--seconds', '1', '--warm-up', '0', '--repetitions', '1', '--no-rates', '--connections', '8']

test('a run on agents measures the gateway of one with the load of another', {
  timeout: 120_000,
}, async (t) => {
  const { agents, options, temporary } = await startAgents(t)
  const out = join(scratch(t), 'out')
  const engine = findProgram('wrk') === null ? [] : ['--saturation-engine', 'wrk']
  const peers = findProgram('nginx') === null ? [] : ['--with', 'nginx']
  const args = ['bench', 'run', 'proxy', '--scenario', 'get', ...SHORT, ...engine, ...peers, ...options]
  const { code, stderr, stdout } = await gw([...args, '--out', out], { timeout: 100_000 })
  assert.equal(code, 0, stderr)
  const { points, hosts, documents } = JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8')) as Summary
  assert.deepEqual(
    points.map(({ system }) => system).toSorted(),
    peers.length === 0 ? ['sluice'] : ['nginx', 'sluice'],
  )
  for (const { requests, errors, busyShare, rssBytes, ceilingPerSecond } of points) {
    assert.ok(requests > 0 && ceilingPerSecond! > 0)
    assert.deepEqual(Object.values(errors), [0, 0, 0, 0, 0])
    assert.ok(busyShare! > 0 && rssBytes! > 1_000_000)
  }
  const ours = points.find(({ system }) => system === 'sluice')!
  assert.equal(ours.diagnostics.length, 1)
  // One machine cannot pass as three.
  assert.match(ours.warnings!.join(), /share their cores/)
  assert.deepEqual(Object.keys(documents), ['get'])
  assert.deepEqual(Object.keys(hosts!), ROLES)
  for (const text of Object.values(hosts!)) {
    const [, offset, error] = /clock (\S+) ± (\S+) ms from ours/.exec(text) ?? []
    assert.ok(Math.abs(Number(offset)) <= Number(error), text)
    assert.match(text, /CPUs, Linux .*, \d.* % of the CPU time used, at most \d.* % taken by the hypervisor/)
  }
  assert.match(readFileSync(join(out, 'report.html'), 'utf8'), /<dt>Host of gateway<\/dt><dd>http:/)
  assert.doesNotMatch(stdout + stderr + readFileSync(join(out, 'summary.json'), 'utf8'), new RegExp(TOKEN))
  // Only the agents are left.
  await until(
    () => onlyAgents(temporary),
    () => 'the run does not end on all agents',
  )
  assert.ok(agents.every(({ process: { exitCode } }) => exitCode === null))
})

function onlyAgents(temporary: string): boolean {
  const left = processesWith(`TMPDIR=${temporary}`)
  return left.every((pid) => commandOf(pid).includes('bench agent')) && readdirSync(temporary).length === 0
}

test('nothing of a run is left on the agents when its coordinator is killed', {
  timeout: 120_000,
}, async (t) => {
  const { options, temporary } = await startAgents(t)
  const args = ['bench', 'run', 'smoke', '--scenario', 'get', ...SHORT.with(1, '600'), ...options]
  const run = spawnGw(t, args, { cwd: scratch(t) })
  const isLoaded = (): boolean =>
    processesWith(`TMPDIR=${temporary}`).some((pid) => commandOf(pid).includes('autocannon-program'))
  await until(isLoaded, run.stderr)
  assert.ok(processesWith(`TMPDIR=${temporary}`).some((pid) => commandOf(pid).includes('gw.mjs start')))
  run.process.kill('SIGKILL')
  await until(
    () => onlyAgents(temporary),
    () => 'processes are left',
  )
})

test('agents with a certificate are trusted through their authority only', {
  timeout: 120_000,
}, async (t) => {
  const dir = scratch(t)
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = ['-subj', '/CN=agent', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  assert.equal(spawnSync('openssl', [...request, ...names, '-keyout', key, '-out', cert]).status, 0)
  const { options } = await startAgents(t, '--tls-cert', cert, '--tls-key', key)
  assert.match(options[1]!, /generator=https:/)
  const args = ['bench', 'run', 'smoke', '--scenario', 'get', ...SHORT, ...options]
  const cwd = scratch(t)
  const distrusted = await gw(args, { cwd })
  assert.equal(distrusted.code, 1)
  assert.match(distrusted.stderr, /the agent at https:\S+ self-signed certificate/)
  const trusted = await gw(args, { cwd, timeout: 100_000, env: { NODE_EXTRA_CA_CERTS: cert } })
  assert.equal(trusted.code, 0, trusted.stderr)
})

test('a wrong token is refused, and says so', async (t) => {
  const { options } = await startAgents(t)
  const wrong = options.with(-1, secretFile(t, 'another-token-of-mine'))
  const { code, stderr } = await gw(['bench', 'run', 'smoke', ...SHORT, ...wrong], { cwd: scratch(t) })
  assert.equal(code, 1)
  assert.match(stderr, /the token is missing or wrong/)
})

test('an agent that others can reach requires a token, and its options are checked', async (t) => {
  const short = secretFile(t, 'short')
  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [['--listen', '0.0.0.0:0'], /other machines can reach 0\.0\.0\.0; add --token-file/],
    [['--listen', 'here'], /--listen: 'here' is not a listen address/],
    [['--token-file', short], /must have at least 16 visible ASCII characters/],
    [['--tls-cert', 'cert.pem'], /--tls-cert and --tls-key must be used together/],
  ]
  for (const [args, message] of refusals) {
    const { code, stderr } = await gwInProcess(['bench', 'agent', ...args])
    assert.match(stderr, message)
    assert.equal(code, 64)
  }
})

test('each role needs one agent', () => {
  const agents = 'generator=a:1, origin=a:1,gateway=https://b.example:2'
  const { generator, origin, gateway } = agentsOf({ agents })!
  assert.deepEqual([generator, origin, gateway], ['http://a:1', 'http://a:1', 'https://b.example:2'])
  assert.equal(agentsOf({}), null)
  for (const list of [
    'generator=a:1',
    'generator=a:1,origin=a:1,gateway=b',
    'generator=a:1,origin=a:1,shell=b:1',
    'generator=a:1,origin=a:1,gateway=http://b:1/x',
    'generator=a:1,origin=a:1,gateway=b:1,gateway=b:2',
  ])
    assert.throws(() => agentsOf({ agents: list }), /does not name an agent for each role/, list)
})
