import { connectAgents, type RemoteHosts } from '../agent/remote-hosts.js'
import { engineOf, installedVersion } from '../engine/engines.js'
import { seededRandom, shuffled } from '../lib/statistics.js'
import { CaseRun } from '../measure/case-run.js'
import { hostFacts, hostWarnings } from '../measure/host.js'
import { measurePairs } from '../measure/pair-run.js'
import type { RunContext, RunEngines } from '../measure/run-context.js'
import { Progress } from '../measure/run-context.js'
import { openSetup, type Setup, systemCount } from '../measure/setup.js'
import type { Engine, EngineName } from '../model/engine.js'
import type { RunObserver, RunOptions } from '../model/run.js'
import type { Scenario, Suite, SuiteCase } from '../model/scenario.js'
import { type HostFacts, type Point, SUMMARY_VERSION, type Summary } from '../model/summary.js'
import type { Trial } from '../model/trial.js'
import { besideSystem, coreLayout } from '../process/cores.js'
import { findProgram } from '../process/executables.js'
import { memoryParent } from '../process/memory-group.js'
import { temporaryFolder } from '../process/process-reaper.js'
import { LogNode, missingElasticsearch } from '../servers/elasticsearch.js'
import { asksDirectory, missingSlapd } from '../servers/identity.js'
import { missingPeer } from '../servers/peers.js'
import { runTrials } from '../trial/run-trials.js'

/** Parts of a run. Tests provide their own. */
export interface RunParts {
  engineOf(name: EngineName): Engine
  lookAtHost(): Promise<HostFacts>
  /** True if the Elasticsearch node must be as fast as in production. */
  readonly isNodeMeasured: boolean
}

const REAL_PARTS: RunParts = { engineOf, lookAtHost: hostFacts, isNodeMeasured: true }

/** Runs a suite and returns its summary. @throws Error if nothing can be measured. */
export async function runSuite(
  options: RunOptions,
  observer: RunObserver,
  parts: RunParts = REAL_PARTS,
): Promise<Summary> {
  const startedAt = new Date()
  const id = `${options.suite.name}-${startedAt.toISOString().replace(/\D/g, '').slice(0, 14)}`
  const warnings: string[] = []
  const warn = (text: string): void => {
    warnings.push(text)
    observer.onWarning(text)
  }
  const { agents = null } = options
  const remote = agents === null ? null : await connectAgents(agents, options.suite.name, warn)
  const folder = temporaryFolder('sluice-bench-')
  let logNode: LogNode | null = null
  try {
    const [rate, saturation] = [parts.engineOf(options.engine), parts.engineOf(options.saturationEngine)]
    const local = { rate, saturation }
    const engines =
      remote === null ? local : { rate: remote.engineOf(rate), saturation: remote.engineOf(saturation) }
    const versions = checkedVersions(options, engines)
    const suite = measurablePart(options, remote, warn)
    const host = remote?.facts.host ?? (await parts.lookAtHost())
    const layout = remote === null ? layoutWarnings({ ...options, suite }) : []
    for (const text of [...hostWarnings(host), ...layout]) warn(text)
    if (needsLog(suite) && missingElasticsearch() === null) {
      const cpus = coreLayout(1, options.isPinned).load
      logNode = await LogNode.start({ dir: folder.path, cpus, isMeasured: parts.isNodeMeasured })
    }
    const documents: Record<string, string> = {}
    const context: RunContext = {
      ...{ options: { ...options, suite }, observer, engines, dir: folder.path },
      // The order of the points can be reproduced from the id in the summary.
      random: seededRandom(id),
      ...{ versions, documents, logNode, warn },
      openRemotely: remote === null ? null : (scenario) => remote.open(scenario, options),
    }
    const points = await measureCases(context)
    const trials: Trial[] = suite.trials === undefined ? [] : await runTrials(context, suite.trials)
    if (options.signal.aborted) warn('the run was stopped before its end')
    return {
      ...{ schemaVersion: SUMMARY_VERSION, id, suite: suite.name, startedAt: startedAt.toISOString() },
      ...{ endedAt: new Date().toISOString(), command: options.command },
      host: { ...host, versions: { ...host.versions, ...versions } },
      ...(remote === null ? {} : { hosts: remote.report() }),
      ...{ documents, points: inSuiteOrder(points, suite), trials, warnings },
    }
  } finally {
    await remote?.close()
    await logNode?.node.stop()
    await folder.remove()
  }
}

/** Returns the versions of required programs. @throws Error if one is missing */
function checkedVersions(options: RunOptions, { rate, saturation }: RunEngines): Record<string, string> {
  const versions = { [rate.name]: installedVersion(rate), [saturation.name]: installedVersion(saturation) }
  const { peers, rateShares, isPinned, agents = null } = options
  if (rateShares.length > 0 && options.suite.trials === undefined && !rate.hasOpenLoop)
    throw new Error(`${rate.name} cannot hold a rate, which is necessary to measure latency at fixed rates`)
  if (isPinned && agents === null && findProgram('taskset') === null)
    throw new Error('taskset is not installed; install the package util-linux, or use --no-pin')
  const missing = agents !== null ? [] : peers.map(missingPeer).filter((problem) => problem !== null)
  if (missing.length > 0) throw new Error(missing.join('; '))
  return versions
}

function layoutWarnings({ target, isPinned, suite }: RunOptions): string[] {
  if (target !== null)
    return ['gw bench did not start the target: its configuration, its load and its cores are unknown']
  const hasTier = suite.cases.some(({ scenario }) => scenario.tier !== null)
  return [
    ...(isPinned
      ? []
      : [
          'no process was pinned to cores: gateway, load generator and origin may have slowed each other down',
        ]),
    ...(hasTier && memoryParent() === null
      ? [
          'the memory of the tiers is not enforced: it needs the memory controller of cgroup v2, and permission',
        ]
      : []),
  ]
}

/** Returns the part of a suite that can be measured. @throws Error if nothing is left */
function measurablePart(
  { suite, target }: RunOptions,
  remote: RemoteHosts | null,
  warn: (text: string) => void,
): Suite {
  const missing = missingElasticsearch()
  const reasonAgainst = (one: SuiteCase): string | null => {
    if (remote !== null) return remote.reasonAgainst(one)
    const { scenario } = one
    if (target !== null && !(scenario.isPlainProxy && scenario.log === 'none'))
      return 'it is more than a plain proxy does'
    if (asksDirectory(scenario.routes)) return missingSlapd()
    return scenario.log === 'elasticsearch' ? missing : null
  }
  const reasons = new Map<string, string[]>()
  const left = (id: string, reason: string | null): boolean => {
    if (reason !== null) reasons.set(reason, [...(reasons.get(reason) ?? []), id])
    return reason === null
  }
  const cases = suite.cases.filter((one) => left(one.scenario.id, reasonAgainst(one)))
  const trials = suite.trials?.filter(({ id, needsElasticsearch }) =>
    left(id, needsElasticsearch ? missing : null),
  )
  const texts = [...reasons].map(([reason, ids]) => `left out: ${ids.join(', ')}, because ${reason}`)
  if (cases.length + (trials?.length ?? 0) === 0)
    throw new Error(texts.join('; ') || 'nothing is to be measured')
  for (const text of texts) warn(text)
  if (missing !== null && trials?.some(({ log }) => log !== 'none') === true)
    warn(`${missing}; no records are counted`)
  return trials === undefined ? { ...suite, cases } : { ...suite, cases, trials }
}

function needsLog({ cases, trials = [] }: Suite): boolean {
  return [...cases.map(({ scenario }) => scenario.log), ...trials.map(({ log }) => log)].includes(
    'elasticsearch',
  )
}

async function measureCases(context: RunContext): Promise<Point[]> {
  const { options, observer, random, warn } = context
  const progress = new Progress(observer, stepCount(options))
  const points: Point[] = []
  const keep = (point: Point): void => {
    points.push(point)
    observer.onPoint(point)
  }
  for (const one of shuffled(options.suite.cases, random)) {
    if (options.signal.aborted) break
    try {
      await measureCase(context, one, progress, keep)
    } catch (error) {
      // Keep the points measured so far.
      if (points.length === 0) throw error
      warn(`${one.scenario.id} is left out: ${(error as Error).message}`)
    }
  }
  return points
}

async function measureCase(
  context: RunContext,
  { scenario, base, connections }: SuiteCase,
  progress: Progress,
  keep: (point: Point) => void,
): Promise<void> {
  const { options, dir, random, logNode, openRemotely } = context
  const { peers, target, isPinned, signal } = options
  // A target and its peers run where they were started.
  const layout = coreLayout(scenario.workers, isPinned && target === null && openRemotely === null)
  const node = scenario.log === 'elasticsearch' ? logNode!.node : null
  const open = async (one: Scenario): Promise<Setup> => {
    const setup = await (openRemotely?.(one) ??
      openSetup({ dir, scenario: one, peers, target, layout, node }))
    noteVersions(setup, context)
    return setup
  }
  await besideSystem(layout, async () => {
    if (base !== undefined) {
      const both = [base, scenario].map((one) => () => open(one))
      for (const count of connections)
        for (const point of await measurePairs(context, progress, count, both)) keep(point)
      return
    }
    const setup = await open(scenario)
    try {
      const run = new CaseRun(context, setup, progress)
      for (const count of shuffled(connections, random)) {
        if (signal.aborted) return
        for await (const point of run.points(count)) keep(point)
      }
    } finally {
      await setup.close()
    }
  })
}

function noteVersions({ systems, scenario, origin }: Setup, { versions, documents }: RunContext): void {
  versions['origin'] = origin.version
  for (const { name, version, gateway } of systems) {
    if (version !== null) versions[name] = version
    if (gateway !== null) documents[scenario.id] = gateway.digest
  }
}

function stepCount({ suite, peers, rateShares, repetitions }: RunOptions): number {
  const steps = (1 + rateShares.length) * repetitions
  return suite.cases.reduce(
    (sum, one) => sum + one.connections.length * systemCount({ ...one, peers }) * steps,
    0,
  )
}

/** Returns the points in order of the suite, whatever the order of measurement. */
function inSuiteOrder(points: readonly Point[], { cases }: Suite): Point[] {
  const all = cases.flatMap(({ base, scenario }) => (base === undefined ? [scenario] : [base, scenario]))
  const position = new Map(all.map(({ id }, i) => [id, i]))
  return points.toSorted(
    (a, b) =>
      position.get(a.scenario)! - position.get(b.scenario)! ||
      a.connections - b.connections ||
      (a.targetPerSecond ?? 0) - (b.targetPerSecond ?? 0),
  )
}
