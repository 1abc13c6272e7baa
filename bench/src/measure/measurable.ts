import { missingElasticsearch } from '../contestant/search-engine.js'
import type { Target } from '../model/run.js'
import type { Suite, SuiteCase } from '../model/scenario.js'

/** What is more than a plain proxy does cannot be known to be asked of somebody else's server. */
export function isAskable({ scenario }: SuiteCase): boolean {
  return scenario.peers === 'plain-proxy' && scenario.log === 'none'
}

/** Whether a case has a traffic log that is measured. */
export function needsSearchEngine({ scenario }: SuiteCase): boolean {
  return scenario.log === 'elasticsearch'
}

/**
 * The part of a suite that a run on this machine does not leave out.
 * @param target who is asked in place of a gateway of our own; absent: nobody.
 * @param missing why there is no Elasticsearch; null: there is one.
 */
export function measurablePart(
  suite: Suite,
  target: Target | undefined,
  missing: string | null = missingElasticsearch(),
): Suite {
  const { cases, trials } = suite
  const isMeasured = (one: SuiteCase): boolean =>
    (target === undefined || isAskable(one)) && (missing === null || !needsSearchEngine(one))
  const part = { ...suite, cases: cases.filter(isMeasured) }
  if (trials === undefined) return part
  return { ...part, trials: trials.filter((plan) => missing === null || !plan.needsSearchEngine) }
}
