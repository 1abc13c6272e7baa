import type { DocumentPath } from '../diagnostic/document-path.js'
import type { PolicyDocument, PolicyEntry } from '../schema/document.js'
import type { Inspection } from './inspection.js'

/** An enabled policy of a chain. */
export interface ChainStep {
  readonly policy: PolicyDocument
  /** Path of the chain entry that adds it. */
  readonly path: DocumentPath
  /** Path of its definition: a shared policy, a member of a group, or the same as `path`. */
  readonly definition: DocumentPath
}

/** Checks that policies which need the consumer come after an authentication policy, in every chain. */
export function checkConsumers(inspection: Inspection): void {
  const { document, origins } = inspection
  for (const [{ policies }, path] of origins.entries(document.routes, ['routes']))
    checkChain(inspection, chainOf(inspection, policies, [...path, 'policies']))
}

function checkChain({ catalog, report }: Inspection, chain: readonly ChainStep[]): void {
  const known = new Set<string>()
  for (const { policy, path } of chain) {
    const kind = catalog.get(policy.use)
    const authenticates = kind?.authenticates?.(policy.with as never) ?? null
    if (authenticates !== null) known.add(authenticates)
    // An unknown policy may authenticate.
    else if (kind === undefined) known.add('request')
    if (known.size === 0 && sharesAnonymousCounter(policy)) {
      const message = `${policy.use} counts per consumer, but no policy before it authenticates: all callers share one counter`
      const remedy = 'add an authentication policy such as api-key or jwt before it, or set onMissingKey'
      report.add({ path, severity: 'warning', rule: 'consumer-limit', message, remedy })
    }
    const needs = kind?.needsConsumer?.(policy.with as never) ?? null
    if (needs === null || known.has('request') || known.has(needs)) continue
    const isLate = known.has('body')
    report.add({
      path,
      message: isLate
        ? `${policy.use} runs before the body is available, but the policy before it reads the consumer from the body`
        : `${policy.use} needs an authentication policy before it`,
      remedy: isLate
        ? `set phase: body in its with section`
        : 'add one such as basic-auth, api-key or jwt before it',
    })
  }
}

/** True if a policy counts per consumer without saying what to do with requests that have none. */
function sharesAnonymousCounter({ with: settings }: PolicyDocument): boolean {
  const { key, onMissingKey } = settings as { readonly key?: unknown; readonly onMissingKey?: unknown }
  return typeof key === 'string' && /^\s*consumer\.\w+\s*$/.test(key) && onMissingKey === undefined
}

type SharedPolicies = Inspection['document']['policies']
type Definition = Omit<ChainStep, 'path'>

const policiesById = new WeakMap<SharedPolicies, ReadonlyMap<string, Definition>>()

function sharedPolicies({ document, origins }: Inspection): ReadonlyMap<string, Definition> {
  const { policies } = document
  const known =
    policiesById.get(policies) ??
    new Map(
      origins
        .entries(policies, ['policies'])
        .map(([policy, definition]) => [policy.id, { policy, definition }] as const),
    )
  policiesById.set(policies, known)
  return known
}

/** Returns the enabled policies of a chain. Unknown names are skipped; they have been reported. */
export function chainOf(
  inspection: Inspection,
  entries: readonly PolicyEntry[],
  at: DocumentPath,
): readonly ChainStep[] {
  const { document, origins } = inspection
  const shared = sharedPolicies(inspection)
  const definitionOf = (entry: PolicyEntry, definition: DocumentPath): Definition | undefined =>
    typeof entry === 'string' ? shared.get(entry) : { policy: entry, definition }
  return [...origins.entries(entries, at)].flatMap(([entry, path]) => {
    const isGroup = typeof entry === 'string' && Object.hasOwn(document.policyGroups, entry)
    const members = isGroup
      ? origins.entries(document.policyGroups[entry]!, ['policyGroups', entry])
      : [[entry, path] as const]
    return members.flatMap(([member, memberPath]) => {
      const found = definitionOf(member, memberPath)
      return found?.policy.enabled === true ? [{ ...found, path }] : []
    })
  })
}
