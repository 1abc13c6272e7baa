import {
  hasUnreadSecret,
  type LogElasticsearchPlan,
  type LogOutletPlan,
  type LogPlan,
  resolvePlan,
} from '@sluice/config'
import { loadFile } from '../input/document.js'
import { EXIT, Failure, usageError } from '../output/failure.js'
import type { ElasticsearchFlags } from './elasticsearch-access.js'

/** A log target of a document. */
export interface NamedOutlet {
  /** Id for --target. */
  readonly id: string
  readonly outlet: LogOutletPlan<LogPlan['sink']>
}

/**
 * Returns the log targets of a document, starting with that of log.sink, or only the named one.
 * @throws Failure if the document is invalid or has no such target
 */
export async function outletsOf(config: string, target: string | undefined): Promise<readonly NamedOutlet[]> {
  const { log } = resolvePlan(await loadFile(config))
  if (hasUnreadSecret(log))
    throw new Failure(
      `${config}: log refers to Vault, which only a gateway reads; give the address and password on the command line`,
      EXIT.invalid,
    )
  const all = [{ id: 'main', outlet: log }, ...log.outputs.map((outlet) => ({ id: outlet.id, outlet }))]
  if (target === undefined) return all
  const named = all.filter(({ id }) => id === target)
  if (named.length > 0) return named
  const known = all.map(({ id }) => id).join(', ')
  throw usageError(`${config} has no log target '${target}'; available: ${known}`)
}

/** Checks that --target is used with a document. @throws Failure */
export function requireDocument({ config, target }: Pick<ElasticsearchFlags, 'config' | 'target'>): void {
  if (target === undefined || config !== undefined) return
  throw usageError('--target refers to a target in a document; add -c')
}

/**
 * Returns the Elasticsearch settings of a document's log: those of the only target that uses them, else the
 * first ones; null if there are none.
 * @throws Failure if several targets use Elasticsearch and none is named
 */
export async function elasticsearchOf(
  config: string,
  target: string | undefined,
): Promise<LogElasticsearchPlan | null> {
  const able = (await outletsOf(config, target)).filter(({ outlet }) => outlet.elasticsearch !== null)
  const used = able.filter(({ outlet }) => outlet.sink === 'elasticsearch')
  if (used.length > 1) {
    const names = used.map(({ id }) => id).join(', ')
    throw usageError(`${config} has several Elasticsearch targets: ${names}; choose one with --target`)
  }
  return (used[0] ?? able[0])?.outlet.elasticsearch ?? null
}
