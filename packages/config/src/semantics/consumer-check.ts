import type { DocumentPath } from '../document-path.js'
import type { PolicyDocument, PolicyEntry } from '../schema/document.js'
import type { Inspection } from './inspection.js'

/** A policy that runs in a chain. */
export interface ChainStep {
  readonly policy: PolicyDocument
  /** Of the entry that brings it into the chain. */
  readonly path: DocumentPath
}

/** Policies that ask who is calling stand behind one that finds it out, in every chain. */
export function checkConsumers(inspection: Inspection): void {
  const { document, origins } = inspection
  for (const [{ policies }, path] of origins.entries(document.routes, ['routes'])) {
    checkChain(inspection, chainOf(inspection, policies, [...path, 'policies']))
  }
}

function checkChain({ catalog, report }: Inspection, chain: readonly ChainStep[]): void {
  const known = new Set<string>()
  for (const { policy, path } of chain) {
    const kind = catalog.get(policy.use)
    const authenticates = kind?.authenticates?.(policy.with as never) ?? null
    if (authenticates !== null) known.add(authenticates)
    // Of policies that nobody knows, nobody knows whether they authenticate.
    else if (kind === undefined) known.add('request')
    if (known.size === 0 && countsStrangersTogether(policy)) {
      const message = `${policy.use} counts by the consumer, and no policy before it authenticates: all callers share one count`
      const remedy =
        'list one such as api-key or jwt before it, or say with onMissingKey what becomes of strangers'
      report.add({ path, severity: 'warning', message, remedy })
    }
    const needs = kind?.needsConsumer?.(policy.with as never) ?? null
    if (needs === null || known.has('request') || known.has(needs)) continue
    const isLate = known.has('body')
    report.add({
      path,
      message: isLate
        ? `${policy.use} decides before the body is there, in which the policy before it reads the consumer`
        : `${policy.use} has no policy before it that authenticates`,
      remedy: isLate
        ? `write phase: body under its with`
        : 'list one such as basic-auth, api-key or jwt before it',
    })
  }
}

/** Its key is what only a consumer has, and nothing says what becomes of requests without one. */
function countsStrangersTogether({ with: settings }: PolicyDocument): boolean {
  const { key, onMissingKey } = settings as { readonly key?: unknown; readonly onMissingKey?: unknown }
  return typeof key === 'string' && /^\s*consumer\.\w+\s*$/.test(key) && onMissingKey === undefined
}

type SharedPolicies = Inspection['document']['policies']

const policiesById = new WeakMap<SharedPolicies, ReadonlyMap<string, PolicyDocument>>()

function sharedPolicies(policies: SharedPolicies): ReadonlyMap<string, PolicyDocument> {
  const known =
    policiesById.get(policies) ??
    new Map<string, PolicyDocument>(policies.map((policy) => [policy.id, policy]))
  policiesById.set(policies, known)
  return known
}

/** The policies that run; those that nobody knows were reported. */
export function chainOf(
  { document, origins }: Inspection,
  entries: readonly PolicyEntry[],
  at: DocumentPath,
): readonly ChainStep[] {
  const shared = sharedPolicies(document.policies)
  const policyOf = (entry: PolicyEntry): PolicyDocument | undefined =>
    typeof entry === 'string' ? shared.get(entry) : entry
  return [...origins.entries(entries, at)].flatMap(([entry, path]) => {
    const isGroup = typeof entry === 'string' && Object.hasOwn(document.policyGroups, entry)
    const members = isGroup ? document.policyGroups[entry]! : [entry]
    return members.flatMap((member) => {
      const policy = policyOf(member)
      return policy?.enabled ? [{ policy, path }] : []
    })
  })
}
