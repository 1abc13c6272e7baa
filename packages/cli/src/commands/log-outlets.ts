import { type LogElasticsearchPlan, type LogOutletPlan, type LogPlan, resolvePlan } from '@sluice/config'
import { loadFile } from '../document.js'
import { EXIT, Failure } from '../failure.js'
import type { ElasticsearchFlags } from './elasticsearch-access.js'

/** An output where records of a document's log go. */
export interface NamedOutlet {
  /** As --target takes it. */
  readonly id: string
  readonly outlet: LogOutletPlan<LogPlan['sink']>
}

/**
 * The outputs of a document's log, that of log.sink first; with a name, the one that is called so.
 * @throws Failure when the document cannot be used, or has no output of this name.
 */
export async function outletsOf(config: string, target: string | undefined): Promise<readonly NamedOutlet[]> {
  const { log } = resolvePlan(await loadFile(config))
  const all = [{ id: 'main', outlet: log }, ...log.targets.map((outlet) => ({ id: outlet.id, outlet }))]
  if (target === undefined) return all
  const named = all.filter(({ id }) => id === target)
  if (named.length > 0) return named
  const known = all.map(({ id }) => id).join(', ')
  throw new Failure(EXIT.usage, `the log of ${config} has no target '${target}'; it has ${known}`)
}

/** @throws Failure when a target is named, and no document that has it. */
export function requireDocument({ config, target }: Pick<ElasticsearchFlags, 'config' | 'target'>): void {
  if (target === undefined || config !== undefined) return
  throw new Failure(EXIT.usage, '--target names a target of a document; name that with -c')
}

/**
 * What a document's log says of Elasticsearch, or null: of the one output that sends records there, else of the first
 * that could. @throws Failure when there are several and none is named.
 */
export async function elasticsearchOf(
  config: string,
  target: string | undefined,
): Promise<LogElasticsearchPlan | null> {
  const able = (await outletsOf(config, target)).filter(({ outlet }) => outlet.elasticsearch !== null)
  const used = able.filter(({ outlet }) => outlet.sink === 'elasticsearch')
  if (used.length > 1) {
    const names = used.map(({ id }) => id).join(', ')
    throw new Failure(
      EXIT.usage,
      `the log of ${config} has several targets in Elasticsearch: ${names}; name one with --target`,
    )
  }
  return (used[0] ?? able[0])?.outlet.elasticsearch ?? null
}
