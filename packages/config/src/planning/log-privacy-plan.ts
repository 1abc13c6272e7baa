import type { LogPrivacyPlan, LogPrivacyRule } from '../plan/plan.js'
import type { Document } from '../schema/document.js'

type PrivacyDocument = NonNullable<Document['log']['privacy']>
type RuleDocument = PrivacyDocument['rules'][number]

/** Returns the privacy rules of a checked document. */
export function logPrivacyPlan({ keys, rules }: PrivacyDocument): LogPrivacyPlan {
  return {
    keys: keys.map(({ id, secret }) => ({ id, secret })),
    rules: rules.map((rule) => ({
      id: rule.id,
      find: findPlan(rule.find),
      in: rule.in,
      do: rule.do,
      shape: shapePlan(rule),
    })),
  }
}

function findPlan({ names, regex, type }: RuleDocument['find']): LogPrivacyRule['find'] {
  if (names !== undefined) return { names }
  if (regex !== undefined) return { regex }
  // The schema requires exactly one of the three.
  return { type: type! }
}

function shapePlan({ keepFirst, keepLast, maskFirst }: RuleDocument): LogPrivacyRule['shape'] {
  if (keepFirst !== undefined) return { kind: 'keepFirst', count: keepFirst }
  if (keepLast !== undefined) return { kind: 'keepLast', count: keepLast }
  return maskFirst === undefined ? { kind: 'whole', count: 0 } : { kind: 'maskFirst', count: maskFirst }
}
