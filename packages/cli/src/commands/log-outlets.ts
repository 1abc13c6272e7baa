import { type LogElasticsearchPlan, type LogOutletPlan, type LogPlan, resolvePlan } from '@sluice/config'
import { loadFile } from '../document.js'
import { EXIT, Failure } from '../failure.js'

/** A place where records of a document's log go. */
export interface NamedOutlet {
  /** As --target takes it. */
  readonly id: string
  readonly outlet: LogOutletPlan<LogPlan['sink']>
}

/**
 * The places where records of a document's log go, that of log.sink first; with a name, the one that is called so.
 * @throws Failure when the document cannot be used, or has no place of this name.
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

/** The first part of a document's log about Elasticsearch, or null. @throws Failure. */
export async function elasticsearchOf(
  config: string,
  target: string | undefined,
): Promise<LogElasticsearchPlan | null> {
  const plans = (await outletsOf(config, target)).map(({ outlet }) => outlet.elasticsearch)
  return plans.find((plan) => plan !== null) ?? null
}
