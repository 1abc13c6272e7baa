import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { type PluginPlan, readPlugin, resolvePlan } from '@sluice/config'
import { parse } from 'yaml'
import { loadFile } from '../input/document.js'
import type { OutputOptions } from '../input/options.js'
import { showActivity } from '../output/activity.js'
import { EXIT, Failure, messageOf } from '../output/failure.js'
import { print, printValue } from '../output/output.js'
import { contractFindings, type Finding } from '../plugins/kit.js'
import { type RequestCost, TrialGateway } from '../plugins/trial-gateway.js'

interface Use {
  readonly use: string
  readonly with?: unknown
}

/** Maximum number of requests per measurement, and number of measurements; the lowest result counts. */
const REQUESTS = 25_000
const ROUNDS = 2
const WARM_UP = 3000

/** Runs the contract tests of a plugin and measures its cost. Returns a failure if a test fails. */
export async function testPlugin({ output }: OutputOptions, dir = '.'): Promise<number> {
  const folder = resolve(dir)
  const found = await readPlugin(`./${basename(folder)}`, dirname(folder))
  if ('message' in found) throw new Failure(`${found.message} (${found.remedy})`, EXIT.invalid)
  const activity = showActivity(`testing ${found.name}`)
  const findings = await findingsOf(found, folder).finally(() => activity.end())
  if (output === 'table') print(...findings.flatMap(linesOf))
  else await printValue({ plugin: found.name, version: found.version, findings }, output)
  return findings.every(({ flaws }) => flaws.length === 0) ? EXIT.ok : EXIT.failed
}

function linesOf({ check, flaws, note }: Finding): string[] {
  const head = `${flaws.length === 0 ? 'ok  ' : 'FAIL'} ${check}`
  return [note === undefined ? head : `${head}: ${note}`, ...flaws.map((flaw) => `     ${flaw}`)]
}

async function findingsOf(plugin: PluginPlan, folder: string): Promise<readonly Finding[]> {
  const uses = usesOf(folder)
  const trial = trialFolder(plugin, folder, uses)
  try {
    const { routes } = resolvePlan(await loadFile(join(trial, 'gateway.yaml')))
    const resolved = routes.flatMap((route) => route.policies)
    const contract = await contractFindings(plugin, resolved)
    // A gateway would not load a plugin that violates the contract.
    if (contract.some(({ flaws }) => flaws.length > 0)) return contract
    return [...contract, ...(await gatewayFindings(trial, uses, budgetOf(folder)))]
  } finally {
    rmSync(trial, { recursive: true, force: true, maxRetries: 5 })
  }
}

function usesOf(folder: string): readonly Use[] {
  const file = join(folder, 'example.yaml')
  if (!existsSync(file))
    throw new Failure(`${file} does not exist; create it with a list of policy uses`, EXIT.invalid)
  try {
    const uses: unknown = parse(readFileSync(file, 'utf8'))
    if (Array.isArray(uses) && uses.length > 0) return uses as Use[]
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${messageOf(error)}`, EXIT.invalid)
  }
  throw new Failure(`${file} is not a list of policy uses such as - use: ${basename(folder)}`, EXIT.invalid)
}

function budgetOf(folder: string): number | null {
  const { sluice } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly sluice?: { readonly budgetMicros?: unknown }
  }
  return typeof sluice?.budgetMicros === 'number' ? sluice.budgetMicros : null
}

/**
 * Creates a folder with a document and links to all files of the plugin, so that its examples find their
 * files.
 */
function trialFolder(plugin: PluginPlan, folder: string, uses: readonly Use[]): string {
  const trial = mkdtempSync(join(tmpdir(), 'gw-plugin-'))
  for (const name of readdirSync(folder)) {
    if (name !== 'node_modules' && name !== 'gateway.yaml') symlinkSync(join(folder, name), join(trial, name))
  }
  const place = join(trial, 'node_modules', plugin.package)
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(folder, place)
  const respond = { status: 200, body: 'ok' }
  const document = {
    version: 1,
    listeners: [{ address: '127.0.0.1:0' }],
    admin: { address: '127.0.0.1:0' },
    workers: 1,
    log: { sink: 'none' },
    plugins: [plugin.package],
    routes: [
      { id: 'plain', match: { path: '/plain/*' }, respond },
      ...uses.map((use, i) => ({
        id: `use-${i + 1}`,
        match: { path: `/use-${i + 1}/*` },
        respond,
        policies: [use],
      })),
    ],
  }
  writeFileSync(join(trial, 'gateway.yaml'), JSON.stringify(document))
  return trial
}

async function gatewayFindings(
  trial: string,
  uses: readonly Use[],
  budget: number | null,
): Promise<Finding[]> {
  const gateway = await TrialGateway.start(trial)
  try {
    const pid = await gateway.workerPid()
    const findings: Finding[] = []
    for (const [i, { use }] of uses.entries()) {
      const path = `/use-${i + 1}/a`
      const check = `${use} (example ${i + 1})`
      const flaws = await hostileFlaws(gateway, path, pid)
      findings.push({ check: `hostile requests to ${check}`, flaws })
      // A policy that hangs cannot be measured.
      if (flaws.length > 0) break
      findings.push(await costFinding(gateway, { path, check, budget }))
    }
    return findings
  } catch (error) {
    return [{ check: 'test gateway', flaws: [messageOf(error)] }]
  } finally {
    gateway.close()
  }
}

async function hostileFlaws(gateway: TrialGateway, path: string, pid: number | null): Promise<string[]> {
  for (const bytes of hostileRequests(path)) {
    await gateway.send(bytes)
    const status = await gateway.get('/plain/a')
    if (status !== 200)
      return [`another route answered ${status} after ${JSON.stringify(bytes.slice(0, 80))}`]
  }
  return (await gateway.workerPid()) === pid ? [] : ['the worker crashed']
}

function hostileRequests(path: string): string[] {
  const head = (line: string, more = ''): string =>
    `${line} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${more}\r\n`
  const fields = ['authorization', 'cookie', 'content-type', 'origin', 'range', 'x-forwarded-for']
  const values = ['', ',', '"', '%00%ff', '__proto__', '\xff\xfe', 'x'.repeat(8000)]
  return [
    head(`GET ${path}?a=%&a&=&__proto__=1`),
    head(`GET ${path}/%2e%2e/%00`),
    head(`OPTIONS ${path}`),
    ...values.map((value) =>
      head(`GET ${path}`, `${fields.map((field) => `${field}: ${value.slice(0, 1500)}\r\n`).join('')}`),
    ),
    ...['{', '<a>', '['.repeat(5000), '\0\xff'].map(
      (body) =>
        `${head(`POST ${path}`, `content-type: application/json\r\ncontent-length: ${body.length}\r\n`)}${body}`,
    ),
    // A body that is never completed.
    `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nabc`,
  ]
}

interface Measured {
  readonly path: string
  readonly check: string
  readonly budget: number | null
}

async function costFinding(gateway: TrialGateway, { path, check, budget }: Measured): Promise<Finding> {
  for (const warm of ['/plain/a', path]) await gateway.costOf(warm, WARM_UP)
  const costs: Record<'plain' | 'used', RequestCost[]> = { plain: [], used: [] }
  for (let round = 0; round < ROUNDS; round++) {
    costs.plain.push(await gateway.costOf('/plain/a', REQUESTS))
    costs.used.push(await gateway.costOf(path, REQUESTS))
  }
  const [plain, used] = [leastOf(costs.plain), leastOf(costs.used)]
  // Both are measured in clock ticks, with an error of one tick each.
  const doubt = plain.doubtMicros + used.doubtMicros
  const added = used.micros - plain.micros
  const budgetText = budget === null ? '' : `, budget ${budget} µs`
  const note = `${added.toFixed(1)} µs of CPU (± ${doubt.toFixed(1)}) on top of ${plain.micros.toFixed(1)} µs without it${budgetText}`
  const isOver = budget !== null && added - doubt > budget
  const flaws = isOver ? [`the cost exceeds sluice.budgetMicros, ${budget} µs`] : []
  return { check: `cost of ${check}`, flaws, note }
}

function leastOf(costs: readonly RequestCost[]): RequestCost {
  return costs.reduce((least, cost) => (cost.micros < least.micros ? cost : least))
}
