import { parseDuration, visibleText } from '@sluice/core'
import {
  type ClusterSetup,
  conflictText,
  planClusterSetup,
  type SetupOutcome,
  type SetupStep,
  setUpCluster,
} from '@sluice/logger/elasticsearch'
import type { OutputOptions } from '../input/options.js'
import { Failure, usageError } from '../output/failure.js'
import { print, printData, printTable, printValue, say } from '../output/output.js'
import { documentAccess, type ElasticsearchFlags, namedAccess } from './elasticsearch-access.js'
import { elasticsearchOf, requireDocument } from './log-outlets.js'
import { sourceFailure } from './log-source.js'

interface LogSetupOptions extends ElasticsearchFlags, OutputOptions {
  readonly retention?: string
  readonly replicas?: number
  readonly dryRun?: boolean
}

const DAY_MS = 86_400_000
const MOST_DAYS = 36_500
const DONE: Readonly<Record<SetupStep['action'], string>> = {
  create: 'created',
  change: 'changed',
  keep: 'up to date',
  conflict: 'conflict',
}
const PLANNED: Readonly<Record<SetupStep['action'], string>> = {
  create: 'would be created',
  change: 'would be changed',
  keep: 'up to date',
  conflict: 'conflict',
}

/** Creates or updates the Elasticsearch objects for the traffic log, or shows the planned changes. */
export async function logSetup(options: LogSetupOptions): Promise<void> {
  const setup = await setupOf(options)
  const isDryRun = options.dryRun === true
  let steps: readonly (SetupStep | SetupOutcome)[]
  try {
    steps = await (isDryRun ? planClusterSetup(setup) : setUpCluster(setup))
  } catch (error) {
    throw sourceFailure(error)
  }
  if (options.output === 'table') report(steps, isDryRun)
  else await printValue({ dryRun: isDryRun, nodes: setup.nodes, steps }, options.output)
  const conflict = steps.find(({ action }) => action === 'conflict')
  if (conflict !== undefined) throw new Failure(conflictText(conflict, setup.dataStream))
}

async function setupOf(options: LogSetupOptions): Promise<ClusterSetup> {
  const { config, elasticsearch, retention, replicas, target } = options
  requireDocument(options)
  const retentionDays = retention === undefined ? undefined : daysOf(retention)
  const plan = config === undefined ? null : await elasticsearchOf(config, target)
  const ofPlan = plan === null || plan.retentionMs === null ? null : Math.ceil(plan.retentionMs / DAY_MS)
  const wanted = {
    retentionDays: retentionDays === undefined ? ofPlan : retentionDays,
    replicas: replicas ?? plan?.replicas ?? 1,
  }
  if (elasticsearch !== undefined) {
    const dataStream = options.dataStream ?? plan?.dataStream
    const flags = dataStream === undefined ? options : { ...options, dataStream }
    return { ...namedAccess(flags, elasticsearch), ...wanted }
  }
  if (plan?.product === 'opensearch' && wanted.retentionDays !== null)
    throw usageError('OpenSearch has no lifecycles of data streams; delete old records with an ISM policy')
  if (plan !== null) return { ...documentAccess(options, plan), ...wanted }
  if (config === undefined) throw usageError('specify the cluster with -c or --elasticsearch')
  const what =
    target === undefined ? 'no Elasticsearch target' : `no Elasticsearch settings for the target '${target}'`
  throw new Failure(`${config} has ${what}; specify the cluster with --elasticsearch`)
}

/** Parses the retention in days; null keeps records forever. */
function daysOf(text: string): number | null {
  if (text === 'none') return null
  try {
    const days = parseDuration(text) / DAY_MS
    if (days >= 1 && days <= MOST_DAYS) return Math.ceil(days)
  } catch {
    // Reported below, like a number of days that is out of range.
  }
  throw usageError(`'${text}' is not a valid retention; use for example 30d, or none to keep everything`)
}

function report(steps: readonly (SetupStep | SetupOutcome)[], isDryRun: boolean): void {
  const rows = steps.map((step) => [step.what, step.name, stateOf(step, isDryRun)])
  printTable(['what', 'name', isDryRun ? 'would happen' : 'happened'], rows)
  for (const { what, differences } of steps) {
    if (differences.length > 0) print('', `${what}:`, ...differences.map((line) => `  ${visibleText(line)}`))
  }
  if (isDryRun) {
    for (const { request } of steps) {
      if (request === null) continue
      print('', `${request.method} ${request.path}`)
      if (request.body !== null) printData(`${JSON.stringify(request.body, null, 2)}\n`)
    }
  }
  if (steps.some((step) => 'outcome' in step && step.outcome === 'unavailable'))
    say('this Elasticsearch does not support lifecycles of data streams; delete old records by other means')
}

function stateOf(step: SetupStep | SetupOutcome, isDryRun: boolean): string {
  const planned = isDryRun || !('outcome' in step)
  if (!planned && step.outcome === 'unavailable') return 'not available'
  if (!planned && step.outcome === 'kept') return DONE.keep
  if (step.request?.path.endsWith('?lazy=true')) return 'with the next record'
  return planned ? PLANNED[step.action] : DONE[step.action]
}
