import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  Engine,
  Finding,
  Point,
  RunObserver,
  RunOptions,
  Summary,
  TextTable,
  Trial,
} from '@sluice/bench'
import type { BenchTools, ComparisonText, RunningOrigin } from '../tools.js'
import { samplePoint, sampleSummary, sampleTrial } from './sample-summary.js'

/**
 * What the recording tools do besides remembering: end well; find points that are no results and trials that failed, or points of CPU time alone and trials that are no results; be interrupted in the
 * first repetition, and end with it or not; find nothing; fail; miss the peers; find no room for reports. Envoy is
 * never there.
 */
export type Mode = 'well' | 'invalid' | 'bounded' | 'patient' | 'deaf' | 'empty' | 'broken' | 'bare' | 'full'

/** A bounded wait, in case the signal of a test never comes. */
const GIVE_UP_MS = 20_000

/** Tools that measure nothing: they append each call to a file, one JSON text a line, and answer at once. */
export function recordingTools(mode: Mode, file: string): BenchTools {
  const record = (call: string, value: object): void =>
    appendFileSync(file, `${JSON.stringify({ call, ...value })}\n`)
  const engines = [
    engine('autocannon', true, '9.0.0'),
    engine('wrk', false, '4.2.0'),
    engine('oha', true, null),
  ]
  return {
    engines,
    engineOf: (name) => engines.find((one) => one.name === name)!,
    runSuite: (options, observer) => {
      const { signal, suite, ...rest } = options
      const cases = suite.cases.map(({ scenario, connections }) => ({ id: scenario.id, connections }))
      const trials = suite.trials?.map(({ id }) => id)
      record('runSuite', { suite: suite.name, cases, trials, isAborted: signal.aborted, ...rest })
      return measured(mode, options, observer)
    },
    hostFacts: () => ({
      ...sampleSummary([]).host,
      ...{ v8: '11.3', source: { commit: 'c0ffee', isDirty: true } },
    }),
    doctor: () => findings(mode),
    writeResults: (summary, dir) => {
      if (mode === 'full') throw new Error('no space left on device')
      record('writeResults', { dir, points: summary.points.length })
      mkdirSync(dir, { recursive: true })
      const path = join(dir, 'summary.json')
      writeFileSync(path, JSON.stringify(summary))
      writeFileSync(join(dir, 'report.md'), `# ${summary.id}\n`)
      return [path]
    },
    pointTable: (points) => [
      ['POINT', 'RPS'],
      ...points.map(({ scenario, perSecond }) => [scenario, String(perSecond.mean)]),
    ],
    rivalTables,
    trialTable,
    compareSummaries: (before, after, limits, options) => {
      record('compareSummaries', { before: before.id, after: after.id, limits, ...options })
      return sampleComparison(mode, before, after, limits.length > 0)
    },
    parseLimits: (text) => {
      if (!text.includes('%')) throw new Error(`'${text}' is not a limit; write for example rps<-5%`)
      return [{ metric: 'rps', direction: '<', change: -0.05, text }]
    },
    capacityFor: (summaries, wish) => {
      record('capacityFor', { ids: summaries.map(({ id }) => id), ...wish })
      if (mode === 'empty') return { lines: ['no answer'], size: null }
      const autoscaler = { averageUtilization: 70, minReplicas: 2, maxReplicas: 3 }
      const measured = { cores: 2, microsPerRequest: 10, shares: [], guide: [], autoscaler }
      return { lines: ['two of W2'], size: { tier: 'W2', replicas: 2, ...measured } }
    },
    readSummary: (path) => JSON.parse(readFileSync(path, 'utf8')) as Summary,
    peerProblem: (name) =>
      mode === 'bare' || name === 'envoy' ? `${name} is not on the PATH; install it` : null,
    startLogSink: () => Promise.reject(new Error('nothing is received here')),
    startOrigin: async (wish, address) => {
      record('startOrigin', { ...wish, address })
      return idleOrigin(address)
    },
  }
}

function sampleComparison(mode: Mode, before: Summary, after: Summary, isFailed: boolean): ComparisonText {
  const point = samplePoint({})
  const change = { metric: 'rps', before: 1, after: 2, change: 1, range: null } as const
  const compared = { name: 'w1-get', before: point, after: point, changes: [change], verdicts: [] }
  const verdicts = { before: 'passed', after: 'passed', text: 'passed' } as const
  const trials = (after.trials ?? []).map(({ id }) => ({ name: id, ...verdicts }))
  const others = { trials, onlyBefore: [], onlyAfter: ['w2-get'], noEvidence: [], warnings: [] }
  const lines = [`${before.id} beside ${after.id}`]
  const hasNone = mode === 'empty' || after.trials !== undefined
  return { ...others, lines, isFailed, points: hasNone ? [] : [compared] }
}

/** It keeps the process until it is stopped. */
function idleOrigin(address: string): RunningOrigin {
  const keepAlive = setTimeout(() => undefined, GIVE_UP_MS)
  return { url: `http://${address}`, stop: async () => clearTimeout(keepAlive) }
}

function rivalTables(points: readonly Point[]): TextTable[] {
  const rivals = points.filter(({ contestant }) => contestant !== 'sluice')
  const rows = rivals.map(({ scenario }) => [scenario, '1.02'])
  const table = { name: 'side by side', headings: ['POINT', 'RATIO'], rows, remark: 'at 92 %' }
  return rows.length === 0 ? [] : [table]
}

function trialTable(trials: readonly Trial[]): string[][] {
  return [['TRIAL', 'VERDICT'], ...trials.map(({ id, failures }) => [id, failures.join()])]
}

function findings(mode: Mode): Finding[] {
  return [
    { subject: 'cores', level: 'ok', found: '8', remedy: null },
    mode === 'well'
      ? { subject: 'foreign work', level: 'ok', found: '0 %', remedy: null }
      : { subject: 'foreign work', level: 'warning', found: '40 %', remedy: 'end the other programs' },
  ]
}

function engine(name: Engine['name'], hasOpenLoop: boolean, version: string | null): Engine {
  return {
    name,
    hasOpenLoop,
    remedy: `fetch ${name}`,
    version: () => version,
    run: () => Promise.reject(new Error('nothing is measured here')),
  }
}

async function measured(mode: Mode, options: RunOptions, observer: RunObserver): Promise<Summary> {
  if (mode === 'broken') throw new Error('the gateway did not start on port 19000')
  observer.onWarning('the machine is not quiet')
  if (options.suite.trials !== undefined) return tried(mode, options.suite, observer)
  const ids = options.suite.cases.map(({ scenario }) => scenario.id)
  const suite = options.suite.name
  observer.onStep(0, ids.length, `${ids[0]}, 1 of 1`, 65)
  if (mode === 'patient' || mode === 'deaf') await aborted(options.signal)
  if (mode === 'deaf') await new Promise((resolve) => setTimeout(resolve, GIVE_UP_MS))
  const reached = options.signal.aborted ? ids.slice(0, 1) : ids
  const invalid = mode === 'invalid' || mode === 'bounded' ? ['the generator was the bottleneck'] : []
  const costInvalid = mode === 'bounded' ? [] : invalid
  const ofEach = ['sluice', ...options.peers]
  const pointsOf = (scenarios: readonly string[]): Point[] =>
    scenarios.flatMap((scenario) =>
      ofEach.map((contestant) => samplePoint({ suite, scenario, contestant, invalid, costInvalid })),
    )
  const points = mode === 'empty' ? [] : pointsOf(reached)
  for (const point of points) observer.onPoint(point)
  return sampleSummary(points, { suite, id: `${suite}-1` })
}

function tried(mode: Mode, { name, trials = [] }: RunOptions['suite'], observer: RunObserver): Summary {
  const failures = mode === 'invalid' ? ['3 records are lost'] : []
  const invalid = mode === 'bounded' ? ['only 9 of 600 requests/s were sent during it'] : []
  const all = trials.map((plan) => sampleTrial({ id: plan.id, title: plan.title, failures, invalid }))
  for (const trial of all) observer.onTrial?.(trial)
  return sampleSummary([], { suite: name, id: `${name}-1`, trials: mode === 'empty' ? [] : all })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const giveUp = setTimeout(resolve, GIVE_UP_MS)
    signal.addEventListener('abort', () => {
      clearTimeout(giveUp)
      resolve()
    })
  })
}
